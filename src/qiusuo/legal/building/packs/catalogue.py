"""The packs that are known: where each comes from, under which licence, how much it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from qiusuo.errors import InvalidQuery
from qiusuo.words import Fact

FLK: Final = "flk"


@dataclass(frozen=True, slots=True)
class Pack:
    """A collection. ``seconds`` and the sizes are what was measured, rounded up.

    ``folders`` are those with laws, all where empty; ``without`` those that hold something else.
    """

    name: str
    origin: str
    licence: Fact
    git: str = ""
    archive: str = ""
    download_mb: int = 0
    index_mb: int = 0
    seconds: int = 0
    folders: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def wants(self, path: PurePosixPath) -> bool:
        """Tell whether a file of the collection is one to read, by its path below the collection's top."""
        if any(part.startswith(".") for part in path.parts) or path.suffix not in {".md", ".sqlite3"}:
            return False
        above = {*path.parts[:-1]}
        return not above & {*self.without} and (not self.folders or path.parts[0] in self.folders)


_KNOWN: Final = (
    Pack(
        name="lawrefbook",
        origin="https://github.com/LawRefBook/Laws",
        licence=Fact("legal_packs.no_licence"),
        git="https://github.com/LawRefBook/Laws.git",
        archive="https://github.com/LawRefBook/Laws/archive/refs/heads/master.zip",
        download_mb=45,
        index_mb=130,
        seconds=120,
        without=("scripts",),
    ),
    Pack(
        name="just-laws",
        origin="https://github.com/ImCa0/just-laws",
        licence=Fact("legal_packs.licence", name="MIT"),
        git="https://github.com/ImCa0/just-laws.git",
        archive="https://github.com/ImCa0/just-laws/archive/refs/heads/main.zip",
        download_mb=15,
        index_mb=30,
        seconds=30,
        folders=("docs",),
        without=("category",),
    ),
    Pack(
        name=FLK,
        origin="https://flk.npc.gov.cn",
        licence=Fact("legal_packs.official"),
        seconds=4,
    ),
)
PACKS: Mapping[str, Pack] = MappingProxyType({pack.name: pack for pack in _KNOWN})


def pack_named(name: str) -> Pack:
    """Return the pack of that name.

    Raises:
        InvalidQuery: there is none.
    """
    pack = PACKS.get(name)
    if pack is None:
        raise InvalidQuery(Fact("legal_packs.unknown", name=name, known=list(PACKS)))
    return pack
