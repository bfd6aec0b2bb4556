/**
 * The shapes that the server sends (docs: /openapi.json). Types only.
 *
 * @typedef {"zh" | "zh-Hant" | "en"} Language
 * @typedef {"chat" | "agent" | "research"} Mode a research is that of a turn only
 * @typedef {"running" | "done" | "stopped" | "failed"} TurnState
 * @typedef {"supported" | "weak" | "not_found"} Support
 *
 * @typedef {object} Settings
 * @property {Mode} mode
 * @property {boolean} search the switch as the user left it
 * @property {string | null} engine null: the usual order
 * @property {number} results
 * @property {"snippets" | "auto" | "read" | null} [depth] null: the server's own
 * @property {string | null} [model] the name of the one that answers; null: the first
 * @property {string} [focus] what is searched; "web": all of it
 * @property {string[]} [sites] where; none: everywhere
 * @property {"day" | "week" | "month" | "year" | null} [freshness]
 * @property {"on" | "off" | "disabled"} switch how the switch must look
 * @property {string} [note]
 *
 * @typedef {Pick<Settings, "focus" | "sites" | "freshness">} Scope
 *
 * @typedef {{name: string, label: Record<string, string>}} Named a choice, with its words by language
 *
 * @typedef {object} SessionInfo
 * @property {string} id
 * @property {string} title
 * @property {Settings} settings
 * @property {string} createdAt
 * @property {string} updatedAt
 * @property {string | null} running the turn that is being answered
 * @property {KeptFile[]} [files] those that were added to it, where it was fetched
 * @property {Branch | null} [branchedFrom] the conversation that it went off from, where it was fetched
 * @property {Branch[]} [branches] those that went off from it
 *
 * @typedef {SessionInfo & {turns: Turn[], earlier: number}} Session `earlier`: turns before these
 *
 * @typedef {object} KeptFile
 * @property {string} id blank as long as the server does not have it
 * @property {string} name
 * @property {number} size
 * @property {number} [pages]
 * @property {"reading" | "ready" | "failed"} state
 *
 * @typedef {KeptFile & {key: number, page?: number, why?: string, named?: boolean}} Chip
 *
 * @typedef {object} Branch
 * @property {string} session the other conversation
 * @property {string} title blank: nothing was asked there yet
 * @property {string} turn the question of the older one that was asked anew
 *
 * @typedef {object} Kept
 * @property {boolean} more conversations follow those that were sent
 * @property {number} total conversations of the user
 * @property {number} most that are kept
 * @property {"refuse" | "delete_oldest"} whenFull
 * @property {number} ofThisMachine conversations from before tokens, for an operator who has none
 *
 * @typedef {object} Attempt
 * @property {string} engine
 * @property {string} outcome
 * @property {number} ms
 * @property {string} [reason]
 * @property {string} [fix]
 * @property {boolean} [skipped]
 * @property {string[]} [notes]
 *
 * @typedef {object} Round
 * @property {number} number
 * @property {string} kind
 * @property {string} query
 * @property {"running" | "done" | "empty" | "failed"} state
 * @property {string} engine
 * @property {string} engineLabel
 * @property {number} found
 * @property {number[]} numbers
 * @property {number} ms
 * @property {boolean} cached
 * @property {boolean} stale
 * @property {string} [asked] the reader's words, where something else was searched for
 * @property {string} [ago] how long ago a cached search was made, in words
 * @property {Attempt[]} attempts
 * @property {string} reason
 * @property {number} [since] when this page saw it begin (milliseconds)
 *
 * @typedef {object} Card what is shown of a source in the place of its snippet
 * @property {string} title
 * @property {string} text
 * @property {string} badge
 * @property {"force" | "pending" | "gone"} tone how the badge looks
 * @property {{value: string, labels: Record<string, string>, day: boolean}[]} facts labels by language
 * @property {string[]} notes
 * @property {string} [mark] how it stands to the question, where it is no answer to it
 * @property {string} [compare] where on this server its text is compared with another version
 *
 * @typedef {object} Side a text in one version; blank where that version has none
 * @property {string} articleNumber
 * @property {string} version when it was published
 * @property {string} effectiveDate
 * @property {string} text
 *
 * @typedef {object} Comparison
 * @property {boolean} changed
 * @property {Side | null} old
 * @property {Side} new
 * @property {{change: "same" | "removed" | "added", text: string}[]} parts
 * @property {string[]} notes
 *
 * @typedef {object} Law a card as older conversations have it
 * @property {string} lawName
 * @property {string} [articleNumber]
 * @property {string} [status]
 * @property {string} [version]
 * @property {string} [chapter]
 * @property {string} [effectiveDate]
 * @property {string} [dateBasis] "published": that day is the one of publication
 * @property {string[]} [notes] what a reader must know of this version
 * @property {string} [content]
 *
 * @typedef {object} Source
 * @property {number} number
 * @property {string} title
 * @property {string} url
 * @property {string} domain
 * @property {string} snippet
 * @property {number} round
 * @property {string | null} publishedAt
 * @property {string[]} engines
 * @property {boolean} pageRead
 * @property {string[]} [passages] what the answer was given of the page
 * @property {boolean} [weak] it hardly touches the question
 * @property {Card | null} [card]
 * @property {Law | null} [law] in the place of a card, in older conversations
 *
 * @typedef {object} PageRead
 * @property {number} number that of its source
 * @property {string} url
 * @property {string} domain
 * @property {string} title
 * @property {"reading" | "used" | "unused" | "failed"} state
 * @property {number} ms
 * @property {boolean} cached
 * @property {string} reason why it could not be read
 * @property {string} [code] the same for programs
 * @property {Record<string, any>} [values]
 *
 * @typedef {object} Reading pages that are read side by side
 * @property {number} number
 * @property {PageRead[]} pages
 * @property {boolean} done
 * @property {number} ms
 *
 * @typedef {object} Told a fact, for programs
 * @property {string} [code]
 * @property {Record<string, any>} [values]
 *
 * @typedef {object} Notice
 * @property {string} code
 * @property {string} level
 * @property {string} title
 * @property {string} message
 * @property {string} fix
 * @property {string[]} commands
 * @property {string} doc
 * @property {number | null} retryAfter
 * @property {Told | null} [reason]
 *
 * @typedef {object} CitationCheck
 * @property {number} number
 * @property {boolean} snippetOnly
 * @property {Support} support
 * @property {number} score
 * @property {string} passage
 * @property {string[]} reasons
 *
 * @typedef {object} ClaimCheck
 * @property {string} claim
 * @property {Support} support
 * @property {CitationCheck[]} citations
 *
 * @typedef {object} Check
 * @property {{counts: Record<Support, number>, claims: ClaimCheck[]}} report
 * @property {{number: number, passage: string, sentence: string}[]} added
 *
 * @typedef {object} Usage
 * @property {number | null} inputTokens
 * @property {number | null} outputTokens
 * @property {number} searches
 * @property {number} searchMs
 * @property {number | null} firstTokenMs
 * @property {number} totalMs
 *
 * @typedef {object} Amounts
 * @property {number} searches
 * @property {number} pages
 * @property {number} tokens
 * @property {number} seconds
 *
 * @typedef {object} ResearchStep
 * @property {number} number
 * @property {string} question
 * @property {"waiting" | "searching" | "reading" | "found" | "writing" | "done" | "empty" | "failed"} state
 * @property {number} results
 * @property {number} pages
 * @property {number} ms
 *
 * @typedef {object} Research
 * @property {"planning" | "working" | "summary" | "done"} stage
 * @property {ResearchStep[]} steps
 * @property {Amounts} limits
 * @property {Amounts} used
 * @property {boolean} byRule
 * @property {boolean} digest
 *
 * @typedef {object} Turn
 * @property {string} id
 * @property {string} question
 * @property {Mode} mode
 * @property {string} model
 * @property {string} [called] the name under which it was chosen, or took over; blank for the first
 * @property {boolean} search
 * @property {string} createdAt
 * @property {TurnState} state
 * @property {"searching" | "reading" | "thinking" | "answering" | null} stage
 * @property {string} answer
 * @property {string} references
 * @property {number[]} cited
 * @property {string} finish
 * @property {Round[]} rounds
 * @property {Source[]} sources
 * @property {Reading[]} [readings] absent in older conversations
 * @property {Notice[]} notices
 * @property {Check | null} check
 * @property {Usage | null} usage
 * @property {Research | null} [research]
 * @property {Scope | null} [scope] what its searches were kept to
 * @property {string[]} [related] what may be asked next
 * @property {{verdict: "good" | "bad", reasons: string[], text: string}} [feedback] what the reader thought of it
 *
 * @typedef {object} EngineInfo
 * @property {string} name
 * @property {string} label
 * @property {string} state
 * @property {string} [reason]
 * @property {string} [fix]
 *
 * @typedef {object} Problem
 * @property {string} code
 * @property {string} message
 * @property {string} fix
 * @property {string[]} commands
 *
 * @typedef {object} ModelChoice
 * @property {string} name blank: the first
 * @property {string} label
 * @property {"remote" | "local" | "extractive" | "unusable"} kind
 *
 * @typedef {object} Budget null: no limit
 * @property {number} usedSearches
 * @property {number | null} searches
 * @property {number} usedModelTokens
 * @property {number | null} modelTokens
 * @property {string} anew the day on which it begins anew
 *
 * @typedef {object} Config
 * @property {ModelChoice[]} [models]
 * @property {{name: string, label: string, kind: "remote" | "local" | "extractive" | "unusable", nativeSearch: boolean}} model
 * @property {{available: boolean, engine: {name: string, label: string, web: boolean, untried?: boolean, failed?: Problem | null} | null, problem: Problem | null}} search
 * @property {EngineInfo[]} engines
 * @property {Named[]} [focuses] what can be searched
 * @property {Named[]} [freshness] how new pages may have to be; blank: any time
 * @property {"snippets" | "auto" | "read"} depth what answers rest on where a conversation does not say
 * @property {Partial<Record<Language, string[]>>} examples
 * @property {Budget | null} [budget] what the reader has used of a month's budget
 * @property {boolean} operator whether the reader runs the server: commands are for nobody else
 * @property {{name: string, via: string} | null} [person] who has come in without a token
 * @property {string} program how our command is typed on the server; blank for who does not run it
 * @property {string} version
 * @property {{maxQuestion: number}} limits
 * @property {{atOnce: number, maxBytes: number} | null} [files] null: none may be added
 * @property {Settings} settings those of a new conversation
 * @property {Amounts & {questions: number}} [research] how much a research may take
 *
 * @typedef {object} Finding
 * @property {string} code
 * @property {string} level
 * @property {string} what
 * @property {string} why
 * @property {string} fix
 * @property {string[]} commands
 * @property {string} guide
 */
export {};
