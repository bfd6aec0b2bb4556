"""Vectors made beside the work of a server or a chat: ``make run`` shall not wait for them."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from qiusuo.config import Settings
from qiusuo.errors import SearchError
from qiusuo.legal.index import encoding, semantic
from qiusuo.legal.index.folder import IndexFolder, index_folder
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

LEAVE_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 3.0
"""How long until an index that is installed or grown meanwhile is seen."""


class VectorsBeside:
    """While it is entered, each generation of the index that has no vectors gets them, by one process per folder."""

    def __init__(self, folder: IndexFolder, *, wanted: bool = True) -> None:
        self._folder = folder
        self._wanted = wanted and semantic.is_installed()
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._run, name="legal-vectors", daemon=True)
        self._given_up: Path | None = None

    def __enter__(self) -> Self:
        if self._wanted:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving.set()
        if self._thread.is_alive():
            self._thread.join(LEAVE_SECONDS)  # a batch may take longer; it is made again by the next one

    def status(self) -> Fact | None:
        """Return how far it is, None where nothing is to be done."""
        generation = self._generation()
        progress = encoding.progress_of(generation) if generation else None
        return Fact("legal.meaning_progress", percent=progress.percent) if progress else None

    def _run(self) -> None:
        warm = False
        while not self._leaving.is_set():
            generation = self._generation()
            if generation is not None and generation != self._given_up:
                self._complete(generation)
            elif generation is None and not warm:
                # Loading takes a second or two, which the first question shall not wait for.
                warm = semantic.load_encoder(self._folder.current())
            self._leaving.wait(LOOK_SECONDS)

    def _generation(self) -> Path | None:
        """Return the current generation if it lacks vectors."""
        try:
            generation = self._folder.current()
        except SearchError:
            return None
        return generation if generation and not (generation / semantic.VECTORS).is_file() else None

    def _complete(self, generation: Path) -> None:
        try:
            with self._folder.encoding() as mine:
                if not mine or (generation / semantic.VECTORS).is_file():
                    return
                logger.info("the vectors of the legal index are being made")
                for done in encoding.complete(self._folder, generation):
                    logger.debug("vectors: %d", done)
                    if self._leaving.is_set() or self._folder.current() != generation:
                        return  # the next one goes on where this one was
                logger.info("the vectors of the legal index are there")
        except (OSError, SearchError):
            # A service manager ends all processes of the server at once, the encoders perhaps before us.
            if not self._leaving.wait(LOOK_SECONDS) and generation.is_dir():  # a writer may have removed it
                self._given_up = generation
                logger.exception("the vectors of the legal index cannot be made: laws are ranked by words")


def beside(settings: Settings) -> VectorsBeside:
    """Return what makes the vectors of the settings' index."""
    return VectorsBeside(index_folder(settings.legal_dir), wanted=settings.legal_meaning)
