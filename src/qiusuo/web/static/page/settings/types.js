/**
 * What `/api/settings` and its neighbours send. Types only.
 *
 * @typedef {"environment" | "file" | "default"} Origin
 *
 * @typedef {object} Field
 * @property {any} value null for secrets
 * @property {Origin} source
 * @property {string} variable the environment variable that sets it
 * @property {boolean} secret
 * @property {boolean} set
 * @property {boolean} restart it works after a restart
 * @property {any} default
 * @property {string} description
 *
 * @typedef {object} Secret a secret never has a value here
 * @property {boolean} set
 * @property {Origin | null} source
 * @property {string} variable
 *
 * @typedef {object} ModelEntry
 * @property {string} name blank: the first model
 * @property {string | null} model `provider:name`
 * @property {string | null} base_url
 * @property {number | null} context
 * @property {Secret} key
 *
 * @typedef {object} EngineEntry
 * @property {string} name
 * @property {string} label
 * @property {string} state
 * @property {string} reason
 * @property {string} fix
 * @property {string[]} commands
 * @property {Secret | null} key
 * @property {boolean} key_wanted
 * @property {{value: string | null, source: Origin | null, variable: string} | null} address
 * @property {number | null} monthly_quota
 * @property {number | null} quota_used
 * @property {number | null} requests_per_second
 * @property {boolean} costs_money
 * @property {string} docs_url
 * @property {boolean} takes_part
 *
 * @typedef {object} Provider
 * @property {string} name
 * @property {string} label
 * @property {string} key_variable
 * @property {string} base_url
 * @property {boolean} lists_models
 * @property {boolean} local
 *
 * @typedef {object} SettingsData
 * @property {string | null} file
 * @property {string} version
 * @property {boolean} writable
 * @property {{message: string, fix: string} | null} problem
 * @property {Record<string, Field>} fields
 * @property {ModelEntry[]} models
 * @property {string | null} second_model
 * @property {EngineEntry[]} engines
 * @property {{value: string[] | null, source: Origin}} order
 * @property {Provider[]} providers
 * @property {string[]} [changed]
 * @property {string[]} [restart]
 *
 * @typedef {object} Tried how a test ended
 * @property {string} outcome
 * @property {string} message
 * @property {string} fix
 * @property {string[]} commands
 *
 * @typedef {object} FoundServer
 * @property {string} kind
 * @property {string} label
 * @property {string} base_url
 * @property {string[]} models
 * @property {{set: Record<string, unknown>, unset?: string[]}} use
 *
 * @typedef {object} Held what the index of laws has
 * @property {number} laws
 * @property {number} articles
 * @property {boolean} statutes those that come with Qiusuo are among it
 *
 * @typedef {object} Pack laws that can be fetched
 * @property {string} name
 * @property {string} what
 * @property {string} origin
 * @property {string} licence
 * @property {number} download_mb
 * @property {{revision: string, at: string} | null} installed
 * @property {"absent" | "installed" | "installing" | "removing" | "failed"} state
 * @property {number | null} done
 * @property {number | null} total
 * @property {string} words what is being done, or why it failed
 *
 * @typedef {object} Person somebody with a token of the database
 * @property {string} name
 * @property {string} token its public beginning
 * @property {"user" | "operator"} role
 * @property {boolean} ended
 * @property {string | null} endsAt
 * @property {number | null} perMinute
 * @property {number | null} searches
 * @property {number | null} modelTokens
 * @property {string[] | null} engines
 * @property {string[] | null} models
 * @property {number} usedSearches
 * @property {number} usedModelTokens
 * @property {string} madeAt
 * @property {string | null} usedAt
 *
 * @typedef {object} PeopleData
 * @property {Person[]} people
 * @property {{engines: string[], models: string[]}} choices
 * @property {string[]} inSettings names of tokens of the settings
 *
 * @typedef {object} AuditLine
 * @property {number} id
 * @property {number} at seconds since 1970
 * @property {string} who
 * @property {string} address
 * @property {string} message
 *
 * @typedef {import("../types.js").Finding & {repair?: boolean, check?: string, docsUrl?: string}} Found a finding of the doctor
 */
export {};
