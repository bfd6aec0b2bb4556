"""``qiusuo legal install --pack``, ``packs``, ``remove``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path

import typer

from qiusuo.cli.exits import Exit
from qiusuo.errors import ConfigurationError, InvalidQuery
from qiusuo.legal.answers.finding.regulations import check_day
from qiusuo.legal.building.imports import Importer
from qiusuo.legal.building.packs.catalogue import FLK, PACKS, Pack, pack_named
from qiusuo.legal.building.packs.changes import Changes
from qiusuo.legal.building.packs.fetching import Collection, Fetcher
from qiusuo.legal.building.packs.flk_sync import NATIONAL, FlkSync, Wanted
from qiusuo.legal.building.packs.installing import Outcome, install_pack, installed, pack_folder, remove_pack
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.screen import guarded, print_json, progress_bar, say, words
from qiusuo.legal.terminal import print_report
from qiusuo.words import Fact

_Tell = Callable[[str, float | None], None]
# Before the first law of the People's Republic: all of them.
FIRST_DAY = "1949-01-01"
MAX_NAMED_LAWS = 12
_REVISION_CHARS = 12


@dataclass(frozen=True, slots=True)
class PackOrder:
    """What is to be installed, and how."""

    pack: str
    source: str = ""
    since: str = ""
    kinds: tuple[str, ...] = ()
    yes: bool = False
    semantic: bool = False


def run_install_pack(order: PackOrder) -> Exit:
    """Install a pack, or bring it up to date."""

    def install(folder: IndexFolder) -> Exit:
        if not order.pack:
            raise InvalidQuery(Fact("legal_packs.only_with_pack"))
        pack = pack_named(order.pack)
        wanted = Wanted(order.kinds or NATIONAL, check_day(order.since or FIRST_DAY, date.min, "--since"))
        if not _agreed(_offer(pack, folder, order.source), yes=order.yes):
            return Exit.NOT_CONFIGURED
        if _is_newest(pack, folder, order):
            return Exit.OK
        with progress_bar() as tell:
            collection = _brought(pack, folder, order, wanted, tell)
            known = installed(folder, pack)
            if known and known.revision == collection.revision and not order.semantic:
                outcome = None
            else:
                importer = Importer(folder, lambda step: tell(step.what, step.share), with_vectors=order.semantic)
                outcome = install_pack(importer, pack, collection)
        if outcome is None:
            say(Fact("legal_packs.up_to_date", name=pack.name, revision=collection.revision[:_REVISION_CHARS]))
            return Exit.OK
        return _print_outcome(outcome, folder)

    return guarded(install)


def run_packs(*, as_json: bool) -> Exit:
    """List the packs."""

    def show(folder: IndexFolder) -> Exit:
        held = {pack.name: installed(folder, pack) for pack in PACKS.values()}
        if as_json:
            listed = [
                {
                    "name": pack.name,
                    "origin": pack.origin,
                    "licence": words().tell(pack.licence),
                    "installed": asdict(found) if (found := held[pack.name]) else None,
                }
                for pack in PACKS.values()
            ]
            print_json({"packs": listed})
            return Exit.OK
        for pack in PACKS.values():
            say(Fact("legal_packs.available", name=pack.name, **_about(pack)))
            found = held[pack.name]
            if found:
                known = {"name": pack.name, "origin": found.origin, "day": found.installed_at[:10]}
                say(Fact("legal_packs.installed", **known, revision=found.revision[:_REVISION_CHARS]))
        return Exit.OK

    return guarded(show)


def run_remove(name: str, *, yes: bool) -> Exit:
    """Take a pack out of the index."""

    def remove(folder: IndexFolder) -> Exit:
        pack = pack_named(name)
        if not pack_folder(folder, pack).is_dir():
            raise ConfigurationError(Fact("legal_packs.not_installed", name=pack.name))
        if not _agreed(Fact("legal_packs.available", name=pack.name, **_about(pack)), yes=yes):
            return Exit.NOT_CONFIGURED
        with progress_bar() as tell:
            outcome = remove_pack(Importer(folder, lambda step: tell(step.what, step.share)), pack)
        say(Fact("legal_packs.removed", name=pack.name))
        _print_outcome(outcome, folder)
        return Exit.OK

    return guarded(remove)


def _about(pack: Pack) -> dict[str, object]:
    return {"what": Fact(f"legal_packs.{pack.name}"), "origin": pack.origin, "licence": pack.licence}


def _offer(pack: Pack, folder: IndexFolder, source: str) -> Fact:
    known = {**_about(pack), "origin": source or pack.origin, "path": pack_folder(folder, pack)}
    if pack.name == FLK:
        return Fact("legal_packs.offer_flk", name=pack.name, seconds=pack.seconds, **known)
    sizes = {"download": pack.download_mb, "index": pack.index_mb, "seconds": pack.seconds}
    return Fact("legal_packs.offer", name=pack.name, **known, **sizes)


def _agreed(offer: Fact, *, yes: bool) -> bool:
    say(offer)
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigurationError(Fact("legal_packs.nobody_to_ask"))
    return typer.confirm(words().tell(Fact("legal_packs.go_on")), default=True)


def _is_newest(pack: Pack, folder: IndexFolder, order: PackOrder) -> bool:
    """Tell, and say, that the newest revision is installed; where that can be known without bringing it."""
    known = installed(folder, pack)
    if known is None or order.semantic or not (pack.git or order.source):
        return False
    revision = Fetcher(pack, pack_folder(folder, pack)).newest(order.source)
    if not revision or revision != known.revision:
        return False
    say(Fact("legal_packs.up_to_date", name=pack.name, revision=revision[:_REVISION_CHARS]))
    return True


def _brought(pack: Pack, folder: IndexFolder, order: PackOrder, wanted: Wanted, tell: _Tell) -> Collection:
    place = pack_folder(folder, pack)
    fetching = words().tell(Fact("legal_packs.fetching", name=pack.name))
    if pack.name != FLK or _is_here(order.source):
        return Fetcher(pack, place, lambda share: tell(fetching, share)).bring(order.source)

    def told(done: int, whole: int, title: str) -> None:
        step = Fact("legal_packs.synchronising", name=pack.name, done=done, all=whole, title=title or "…")
        tell(words().tell(step), done / whole if whole else None)

    return FlkSync(pack, place, order.source, told).run(wanted).collection


def _is_here(source: str) -> bool:
    return bool(source) and "://" not in source and Path(source).expanduser().exists()


def _print_outcome(outcome: Outcome, folder: IndexFolder) -> Exit:
    # Thousands of files of a pack are counted, not listed; what could not be read is named.
    print_report(replace(outcome.report, gaps=()), folder)
    _print_changes(outcome.changes)
    return Exit.OK if outcome.report.articles or outcome.report.cases else Exit.NOTHING_FOUND


def _print_changes(changed: Changes) -> None:
    if not changed.any:
        say(Fact("legal_packs.nothing_changed"))
        return
    counts = {name: f"{value:,}" for name, value in asdict(changed).items() if name != "named"}
    say(Fact("legal_packs.changed", **counts))
    shown, more = list(changed.named[:MAX_NAMED_LAWS]), len(changed.named) - MAX_NAMED_LAWS
    if more > 0:
        say(Fact("legal_packs.changed_more", laws=shown, more=more))
    elif shown:
        say(Fact("legal_packs.changed_laws", laws=shown))
