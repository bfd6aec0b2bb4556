"""An answer, or a conversation, as a document of its own: Markdown, or HTML that prints well, with numbered references.

In a conversation each answer has its own list, so that it can be read, printed and passed on by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Final

from markdown_it import MarkdownIt

from qiusuo.chat.events.turn import TurnRecord, TurnState
from qiusuo.chat.focus import Scope
from qiusuo.chat.models.port import called_in
from qiusuo.citations.linking.references import LINK, escape_markdown, without_file_links
from qiusuo.urls import link_url
from qiusuo.words import Fact, Language

# Nothing is fetched and nothing runs: the words of web pages stand in it.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
Made = Callable[[TurnRecord, Language], str]
"""Says when and by what an answer was made."""
_STYLE: Final = """
:root { color-scheme: light; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color: #111; background: #fff;
  font: 16px/1.65 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.3; } h2 { font-size: 1.25rem; margin-top: 2rem; }
.turn > h2 { font-size: 1.35rem; padding-top: 1.2rem; border-top: 1px solid #ccc; white-space: pre-wrap; }
a { color: #0b57d0; } sup a { text-decoration: none; }
.facts { color: #555; font-size: .9rem; } .open { border-left: 3px solid #b3261e; padding-left: .8rem; }
table { border-collapse: collapse; } th, td { border: 1px solid #bbb; padding: .25rem .6rem; }
pre { white-space: pre-wrap; } .references li { margin: .3rem 0; }
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; } body { color: #e6e6e6; background: #16181d; } a { color: #8ab4f8; }
  .turn > h2 { border-color: #444; } .facts { color: #aaa; } th, td { border-color: #555; }
}
@page { margin: 20mm 18mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 10.5pt; }
  h1, h2, h3 { break-after: avoid; } p, li { orphans: 3; widows: 3; } li, tr, pre { break-inside: avoid; }
  a { color: inherit; text-decoration: none; } .references .address { display: block; font-size: 8.5pt; color: #444; }
}
"""


def completed(turns: Sequence[TurnRecord]) -> list[TurnRecord]:
    """Return turns with the sources of earlier ones that they cite: their numbers go on through a conversation."""
    known: dict[int, dict[str, Any]] = {}
    found = []
    for turn in turns:
        earlier = [known[number] for number in sorted(_missing(turn)) if number in known]
        found.append(replace(turn, sources=[*turn.sources, *earlier]) if earlier else turn)
        known |= {int(each["number"]): each for each in turn.sources}
    return found


def cites_earlier(record: TurnRecord) -> bool:
    """Tell whether an answer cites what only an earlier turn has found."""
    return bool(_missing(record))


def markdown_report(record: TurnRecord, language: Language, *, level: str = "#") -> str:
    """Return an answer as Markdown: its question as the heading, its text, the references."""
    parts = [f"{level} {escape_markdown(record.question)}", _facts(record, language)]
    if record.state is not TurnState.DONE:
        parts.append(f"> {Fact('research.unfinished').text(language)}")
    parts += [without_file_links(record.answer.strip()), _markdown_references(record, language, f"{level}#")]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_conversation(title: str, turns: Sequence[TurnRecord], language: Language) -> str:
    """Return a conversation as Markdown: its answers one after another, each with its references."""
    reports = (markdown_report(turn, Language(turn.language), level="##") for turn in completed(turns))
    return f"# {escape_markdown(title) or Fact('page.untitled').text(language)}\n\n" + "\n---\n\n".join(reports)


def html_report(record: TurnRecord, language: Language) -> str:
    """Return an answer as a page that needs nothing else and prints well; its citations lead to the references."""
    return _html_page(record.question.strip(), _html_turn(record, language, "ref-", _facts), language)


def html_conversation(
    title: str, turns: Sequence[TurnRecord], language: Language, *, made: Made | None = None, head: str = ""
) -> str:
    """Return a conversation as such a page; ``head`` is markup of ours for its head."""
    shown = " ".join(title.split()) or Fact("page.untitled").text(language)
    parts = []
    for number, turn in enumerate(completed(turns), 1):
        tongue = Language(turn.language)
        body = _html_turn(turn, tongue, f"ref-{number}-", made or _facts)
        asked = turn.question.strip()
        # The title is most often the first question.
        heading = "" if number == 1 and " ".join(asked.split()) == shown else f"<h2>{escape(asked)}</h2>\n"
        parts.append(f'<section class="turn" lang="{tongue.tag}">\n{heading}{body}\n</section>')
    return _html_page(shown, "\n".join(parts), language, head)


def _html_turn(record: TurnRecord, language: Language, anchor: str, made: Made) -> str:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    body = str(parser.render(LINK.sub(rf"[\[\1\]](#{anchor}\1)", record.answer.strip())))
    unfinished = Fact("research.unfinished").text(language) if record.state is not TurnState.DONE else ""
    warning = f'<p class="open">{escape(unfinished)}</p>' if unfinished else ""
    facts = f'<p class="facts">{escape(made(record, language))}</p>'
    return f"{facts}\n{warning}\n{body}\n{_html_references(record, language, anchor)}"


def _html_page(title: str, body: str, language: Language, head: str = "") -> str:
    title = escape(title)
    return (
        f'<!doctype html>\n<html lang="{language.tag}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"{head}<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"{body}\n</body>\n</html>\n"
    )


def _facts(record: TurnRecord, language: Language) -> str:
    """Say when and by what it was made, and what its searches were kept to."""
    made = Fact("research.made", date=record.created_at[:10], model=called_in(language, record.model) or "—").text(
        language
    )
    return f"{made} {Scope.from_dict(record.scope).told.text(language)}" if record.scope else made


def _numbers(record: TurnRecord) -> set[int]:
    return {int(number) for number, _ in LINK.findall(record.answer)} | set(record.cited)


def _missing(record: TurnRecord) -> set[int]:
    return _numbers(record) - {int(each["number"]) for each in record.sources}


def _cited(record: TurnRecord) -> Sequence[dict[str, Any]]:
    """Return the sources that the text cites, by number."""
    cited = _numbers(record)
    return sorted((each for each in record.sources if each["number"] in cited), key=lambda each: int(each["number"]))


def _markdown_references(record: TurnRecord, language: Language, level: str) -> str:
    lines = [
        f"- [{each['number']}] {escape_markdown(each['title'] or each['url'])}{_day(each)} <{link}>"
        if (link := link_url(each["url"]))
        else f"- [{each['number']}] {escape_markdown(each['title'])}{_day(each)}"
        for each in _cited(record)
    ]
    return "\n".join([f"{level} {Fact('turn.references').text(language)}", "", *lines]) if lines else ""


def _html_references(record: TurnRecord, language: Language, anchor: str) -> str:
    entries = []
    for each in _cited(record):
        number, title = each["number"], escape((each["title"] or each["url"]) + _day(each))
        link = link_url(each["url"])
        address = f' <a class="address" href="{escape(link)}">{escape(each["url"])}</a>' if link else ""
        entries.append(f'<li id="{anchor}{number}" value="{number}">{title}{address}</li>')
    if not entries:
        return ""
    heading = escape(Fact("turn.references").text(language))
    level = "h2" if anchor == "ref-" else "h3"
    return f'<{level}>{heading}</{level}>\n<ol class="references">\n' + "\n".join(entries) + "\n</ol>"


def _day(source: dict[str, Any]) -> str:
    return f" ({source['publishedAt'][:10]})" if source.get("publishedAt") else ""
