"""Copying the national database: politely, law by law, going on where it was stopped."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from qiusuo.legal.building.importers.articles import articles_of, items_of
from qiusuo.legal.building.packs.catalogue import Pack
from qiusuo.legal.building.packs.docx import as_markdown, docx_lines
from qiusuo.legal.building.packs.fetching import Collection
from qiusuo.legal.building.packs.flk_wire import PAGE_SIZE, FlkWire, Row, Sleep
from qiusuo.legal.engines.flk import STATUS

NATIONAL: Final = ("宪法", "法律", "行政法规", "监察法规", "司法解释")
EVERYTHING: Final = "全部"
_LISTING: Final = "listing.json"
_TEXTS: Final = "texts"
_SAFE = re.compile(r"[0-9A-Za-z_-]{1,64}")

Told = Callable[[int, int, str], None]
"""Hears how many laws are done, of how many, and which comes now."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which laws are copied: their kinds, and published since a day (empty: all)."""

    kinds: tuple[str, ...] = NATIONAL
    since: str = ""

    def takes(self, row: Row) -> bool:
        """Tell whether a law is one of them; the database may answer with more than was asked for."""
        known = EVERYTHING in self.kinds or any(kind in row.kind for kind in self.kinds)
        return known and row.published >= self.since


@dataclass(frozen=True, slots=True)
class Synchronised:
    """What a run brought. ``without_text``: laws of which the database has no document that can be read."""

    collection: Collection
    listed: int
    fetched: int
    without_text: int


@dataclass(frozen=True, slots=True)
class FlkSync:
    """Copies into one folder. Every law that has come is a file there, whole; the next run goes on behind it."""

    pack: Pack
    folder: Path
    base_url: str = ""
    told: Told = lambda _done, _all, _title: None
    sleep: Sleep = asyncio.sleep
    today: Callable[[], date] = date.today

    def run(self, wanted: Wanted) -> Synchronised:
        """Copy what is wanted and not here yet.

        Raises:
            SearchError: the database does not answer, also after waiting; what has come stays.
        """
        return asyncio.run(self._run(wanted))

    async def _run(self, wanted: Wanted) -> Synchronised:
        (self.folder / _TEXTS).mkdir(parents=True, exist_ok=True)
        wire = FlkWire(self.base_url or self.pack.origin, named=bool(self.base_url), sleep=self.sleep)
        try:
            rows = [row for row in await self._list(wire, wanted) if wanted.takes(row)]
            fetched = empty = 0
            for done, row in enumerate(rows):
                self.told(done, len(rows), row.title)
                known = self._held(row)
                if known is None:
                    known = await self._fetch(wire, row)
                    fetched += 1
                empty += not known
        finally:
            await wire.aclose()
        (self.folder / _LISTING).unlink(missing_ok=True)
        tree = self.folder / _TEXTS
        origin = self.base_url or self.pack.origin
        return Synchronised(Collection(tree, _digest(tree), origin), len(rows), fetched, empty)

    async def _list(self, wire: FlkWire, wanted: Wanted) -> list[Row]:
        """Return the list, begun anew unless a run for the same laws was stopped in the middle of it."""
        state = self._listing(wanted)
        rows = {entry["id"]: Row(**entry) for entry in state["rows"]}
        page, total = int(state["page"]), int(state["total"])
        until = self.today().isoformat()
        while page == 0 or page * PAGE_SIZE < total:
            self.told(len(rows), max(total, len(rows)), "")
            total, found = await wire.listed(page + 1, wanted.since, until)
            rows |= {row.id: row for row in found}
            page += 1
            kept = {"wanted": asdict(wanted), "page": page, "total": total}
            _write(self.folder / _LISTING, {**kept, "rows": [asdict(row) for row in rows.values()]})
            if not found:
                break
        return list(rows.values())

    def _listing(self, wanted: Wanted) -> dict[str, Any]:
        try:
            state = json.loads((self.folder / _LISTING).read_text("utf-8"))
        except (OSError, ValueError):
            state = {}
        same = state.get("wanted") == json.loads(json.dumps(asdict(wanted)))
        return state if same else {"page": 0, "total": 0, "rows": []}

    def _held(self, row: Row) -> bool | None:
        """Tell whether the law is here as the list describes it: with text or without; None where it is not."""
        for place, with_text in ((self._place(row), True), (self._place(row).with_suffix(".none"), False)):
            try:
                first = json.loads(place.read_text("utf-8").partition("\n")[0])
            except (OSError, ValueError):
                continue
            if first.get("row") == asdict(row):
                return with_text
        return None

    async def _fetch(self, wire: FlkWire, row: Row) -> bool:
        data = await wire.document(row.id)
        lines = as_markdown(docx_lines(data) or []) if data else []
        drafts = articles_of(lines, ()) or items_of([line for line in lines if not _is_head(line, row)])
        place = self._place(row)
        if not drafts:
            _write(place.with_suffix(".none"), {"row": asdict(row)})
            return False
        head = {
            "law": row.title,
            "published": row.published,
            "effective": row.effective,
            "status": STATUS.get(row.status, ""),
            "kind": row.kind,
            "issuer": row.issuer,
            "url": f"{self.pack.origin}/detail?id={row.id}",
        }
        entries: list[dict[str, Any]] = [
            {**head, "num": draft.label, "heads": list(draft.headings), "content": draft.text} for draft in drafts
        ]
        entries[0]["row"] = asdict(row)
        _write(place, *entries)
        place.with_suffix(".none").unlink(missing_ok=True)
        return True

    def _place(self, row: Row) -> Path:
        name = row.id if _SAFE.fullmatch(row.id) else hashlib.sha256(row.id.encode()).hexdigest()
        return self.folder / _TEXTS / f"{name}.jsonl"


def _is_head(line: str, row: Row) -> bool:
    return not line or line.replace(" ", "") == row.title.replace(" ", "") or line.startswith(("(", "（"))


def _digest(tree: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(tree.glob("*.jsonl")):
        digest.update(f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _write(place: Path, *entries: dict[str, Any]) -> None:
    """Write lines of JSON in one step, so that a file is whole or not there."""
    pending = place.with_name(f".{place.name}.new")
    with pending.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        file.flush()
        os.fsync(file.fileno())
    pending.replace(place)
