"""``qiusuo legal publish`` and ``take``: an index for servers elsewhere."""

from __future__ import annotations

from pathlib import Path

from qiusuo.cli.exits import Exit
from qiusuo.legal.building.published import Taken, place_of, publish, take
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.screen import guarded, progress_bar, say
from qiusuo.words import Fact


def run_publish(target: str) -> Exit:
    """Publish the current generation."""

    def work(folder: IndexFolder) -> Exit:
        place = Path(target).expanduser()
        with progress_bar() as tell:
            done = publish(folder, place, lambda share: tell(place.name, share))
        say(Fact("legal_places.published" if done.new else "legal_places.published_before", path=place, **_facts(done)))
        return Exit.OK

    return guarded(work)


def run_take(source: str) -> Exit:
    """Take the generation that is published at a place."""

    def work(folder: IndexFolder) -> Exit:
        with progress_bar() as tell:
            done = take(folder, place_of(source), lambda share: tell(source, share))
        say(Fact("legal_places.taken" if done.new else "legal_places.taken_before", **_facts(done)))
        return Exit.OK

    return guarded(work)


def _facts(done: Taken) -> dict[str, str]:
    return {"name": done.name, "size": f"{done.size / 1e6:,.0f}"}
