"""Installing, updating and removing packs. What the index serves changes in one step, at the end."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from qiusuo.errors import ConfigurationError
from qiusuo.legal.building.imports import Importer, ImportReport
from qiusuo.legal.building.packs.catalogue import PACKS, Pack
from qiusuo.legal.building.packs.changes import Changes, changes
from qiusuo.legal.building.packs.fetching import UNFINISHED, Collection
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.words import Fact

_NOTE: Final = "pack.json"
_LONGEST_TRANSFER: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Installed:
    """A pack that the index holds: which revision, where it came from and when."""

    name: str
    revision: str
    origin: str
    installed_at: str
    tree: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of installing or removing a pack."""

    report: ImportReport
    changes: Changes


def pack_folder(folder: IndexFolder, pack: Pack) -> Path:
    """Return where the files of a pack lie."""
    return folder.root / "packs" / pack.name


def installed(folder: IndexFolder, pack: Pack) -> Installed | None:
    """Return what is known of an installed pack."""
    try:
        note = json.loads((pack_folder(folder, pack) / _NOTE).read_text("utf-8"))
        found = Installed(**note)
    except (OSError, ValueError, TypeError):
        return None
    return found if Path(found.tree).is_dir() else None


def all_installed(folder: IndexFolder) -> Iterator[Installed]:
    """Give out every pack that is installed."""
    for pack in PACKS.values():
        found = installed(folder, pack)
        if found is not None:
            yield found


def install_pack(importer: Importer, pack: Pack, collection: Collection) -> Outcome:
    """Read a collection into the index, in place of an older revision of the same pack.

    Killed at any moment, the index that was there goes on serving; run again, it goes on where it was.
    """
    folder, place = importer.folder, pack_folder(importer.folder, pack)
    before = folder.current()
    report = importer.run([collection.tree], pack.name, replacing=place)
    outcome = Outcome(report, changes(before, folder.current()))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    note = Installed(pack.name, collection.revision, collection.origin, now, str(collection.tree))
    pending = place / f"{_NOTE}.new"
    pending.write_text(json.dumps(asdict(note), ensure_ascii=False, indent=1), "utf-8")
    pending.replace(place / _NOTE)
    for old in place.iterdir():
        if old.is_dir() and old != collection.tree and not _is_being_brought(old):
            shutil.rmtree(old, ignore_errors=True)
    return outcome


def _is_being_brought(folder: Path) -> bool:
    """Tell whether another process may be filling a folder; one that was killed at it leaves it to those after."""
    return folder.name.startswith(UNFINISHED) and time.time() - folder.stat().st_mtime < _LONGEST_TRANSFER


def remove_pack(importer: Importer, pack: Pack) -> Outcome:
    """Take a pack out of the index; what other sources hold too stays.

    Raises:
        ConfigurationError: it is not installed.
    """
    folder, place = importer.folder, pack_folder(importer.folder, pack)
    if not place.is_dir():
        raise ConfigurationError(Fact("legal_packs.not_installed", name=pack.name))
    before = folder.current()
    # First out of the index, then off the disk: a kill between leaves files that nobody reads.
    report = importer.run([], replacing=place)
    outcome = Outcome(report, changes(before, folder.current()))
    shutil.rmtree(place, ignore_errors=True)
    return outcome
