"""Making the vectors of articles: by their text, in batches, so that nothing is encoded twice.

Vectors may come after their generation: until all of them are there, ranking is by words. What is done so far lies
beside them and is gone on with by whoever builds next.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qiusuo.legal.index import semantic
from qiusuo.legal.index.asked import asked_rows
from qiusuo.legal.index.encoder_process import EncoderProcess
from qiusuo.legal.index.folder import STORE, IndexFolder
from qiusuo.legal.index.places import NATIONAL, place_of
from qiusuo.legal.index.semantic import ASKED_FILES, DIMENSIONS, FILES, VECTORS, VectorFiles
from qiusuo.legal.models import Law, LawKind
from qiusuo.legal.reading.names import STATE

PARTIAL = "vectors.partial"
TOTAL = "vectors.total"
BATCH = 64
PROCESSES = 2
FEW_TEXTS = 512
"""Starting processes takes as long as encoding so many."""
_KEY = 8
_RECORD = _KEY + DIMENSIONS

Rows = Iterable[tuple[int, str]]
Encode = Callable[[list[str]], bytes]


@dataclass(frozen=True, slots=True)
class Progress:
    """How many texts have a vector, of how many."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        return min(99, 100 * self.done // max(1, self.total))


def progress_of(generation: Path) -> Progress | None:
    """Return how far the vectors of a generation are; None where they are there, or nobody has begun."""
    try:
        total = int((generation / TOTAL).read_text("ascii"))
        done = (generation / PARTIAL).stat().st_size // _RECORD
    except (OSError, ValueError):
        return None
    return None if (generation / VECTORS).is_file() else Progress(done, total)


def article_rows(database: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    """Yield what of each article is encoded; of what one place has made nothing, words and the place's name find it."""
    rows = database.execute(
        "SELECT a.id, l.id, l.name, l.kind, a.headings, a.text FROM articles a"
        " JOIN versions v ON v.id = a.version_id JOIN laws l ON l.id = v.law_id ORDER BY a.id"
    )
    for article_id, law_id, name, kind, headings, text in rows:
        if place_of(Law(law_id, name, LawKind(kind), "", "")) == NATIONAL:
            yield article_id, semantic.article_text(name.removeprefix(STATE), headings.split("\n"), text)


def complete(folder: IndexFolder, generation: Path) -> Iterator[int]:
    """Encode what a published generation lacks; yields how many of its articles are done."""
    address = f"{(generation / STORE).resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as database:
        rows, asked = list(article_rows(database)), list(asked_rows(database))
    yield from build_vectors(generation, rows, folder.generations(), asked=asked)


def build_vectors(
    folder: Path, articles: Rows, known: Iterable[Path] = (), most: int | None = None, *, asked: Rows = ()
) -> Iterator[int]:
    """Encode articles, and questions that were written for them, and write their vectors; yields how many are done.

    Where more than ``most`` texts are missing nothing is done. Texts that a generation of ``known`` has vectors of are
    not encoded again, nor those that an interrupted build in ``folder`` or in one of them has done.
    """
    of_articles = sorted((article_id, _key(text), text) for article_id, text in articles)
    of_questions = sorted((article_id, _key(text), text) for article_id, text in asked)
    rows = [*of_articles, *of_questions]
    wanted = {key for _, key, _ in rows}
    vectors: dict[bytes, bytes] = {}
    for generation in known:
        if generation != folder:
            found = _vectors_of(generation) | _read_partial(generation / PARTIAL)
            vectors |= {key: vector for key, vector in found.items() if key in wanted}
    vectors |= _read_partial(folder / PARTIAL)
    missing = list({key: text for _, key, text in rows if key not in vectors}.items())
    if most is not None and len(missing) > most:
        return
    _mend(folder / PARTIAL)
    (folder / TOTAL).write_text(str(len(missing) + (folder / PARTIAL).stat().st_size // _RECORD), "ascii")
    done = len(rows) - len(missing)
    with (folder / PARTIAL).open("ab") as partial, ExitStack() as processes:
        for batch, made in _encoded(missing, processes):
            for place, (key, _) in enumerate(batch):
                vectors[key] = made[place * DIMENSIONS : (place + 1) * DIMENSIONS]
            partial.write(b"".join(key + vectors[key] for key, _ in batch))
            partial.flush()
            done += len(batch)
            yield done
    _write(folder, ASKED_FILES, of_questions, vectors)
    _write(folder, FILES, of_articles, vectors)  # last: a reader looks for them
    (folder / PARTIAL).unlink()
    (folder / TOTAL).unlink()


def _encoded(
    missing: Sequence[tuple[bytes, str]], processes: ExitStack
) -> Iterator[tuple[Sequence[tuple[bytes, str]], bytes]]:
    """Yield the texts in batches with their vectors; many of them are encoded in processes of their own."""
    batches = [missing[start : start + BATCH] for start in range(0, len(missing), BATCH)]
    if len(missing) <= FEW_TEXTS:
        for batch in batches:  # by the encoder that questions will need as soon as there are vectors
            yield batch, semantic.packed(semantic.shared_encoder().encode([text for _, text in batch]))
        return
    helpers = [EncoderProcess() for _ in range(min(PROCESSES, os.cpu_count() or 1))]
    pool = ThreadPoolExecutor(len(helpers))
    processes.callback(pool.shutdown, cancel_futures=True)
    for helper in helpers:
        processes.callback(helper.close)  # first: it ends what the pool waits for
    turns = [
        pool.submit(helpers[number % len(helpers)].encode, [text for _, text in batch])
        for number, batch in enumerate(batches)
    ]
    for batch, turn in zip(batches, turns, strict=True):
        yield batch, turn.result()


def _write(
    folder: Path, names: VectorFiles, rows: Sequence[tuple[int, bytes, str]], vectors: Mapping[bytes, bytes]
) -> None:
    """Write the files; the vectors come last, for it is them that a reader looks for."""
    import numpy as np  # noqa: PLC0415 - comes with the extra

    files: dict[str, Any] = {
        names.ids: np.array([article_id for article_id, _, _ in rows], dtype=np.int64),
        names.keys: np.frombuffer(b"".join(key for _, key, _ in rows), dtype=np.uint8).reshape(-1, _KEY),
        names.vectors: np.frombuffer(b"".join(vectors[key] for _, key, _ in rows), dtype=np.int8).reshape(
            -1, DIMENSIONS
        ),
    }
    for name, content in files.items():
        pending = folder / f"new-{name}"
        np.save(pending, content)
        pending.replace(folder / name)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_KEY).digest()


def _vectors_of(generation: Path) -> dict[bytes, bytes]:
    """Return the vectors of a generation by the key of their text; none where a former version wrote no keys."""
    import numpy as np  # noqa: PLC0415 - comes with the extra

    found: dict[bytes, bytes] = {}
    for names in (FILES, ASKED_FILES):
        if (generation / names.keys).is_file() and (generation / names.vectors).is_file():
            keys, vectors = np.load(generation / names.keys), np.load(generation / names.vectors, mmap_mode="r")
            found |= {key.tobytes(): vector.tobytes() for key, vector in zip(keys, vectors, strict=True)}
    return found


def _read_partial(path: Path) -> dict[bytes, bytes]:
    """Return what an interrupted build wrote."""
    content = path.read_bytes() if path.is_file() else b""
    records = (content[start : start + _RECORD] for start in range(0, len(content) - _RECORD + 1, _RECORD))
    return {record[:_KEY]: record[_KEY:] for record in records}


def _mend(partial: Path) -> None:
    """Cut off the record that a build was killed in."""
    partial.touch()
    size = partial.stat().st_size
    os.truncate(partial, size - size % _RECORD)
