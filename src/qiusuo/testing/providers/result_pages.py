"""Sites whose result pages are made for people: no keys, and errors that are pages."""

from __future__ import annotations

from abc import abstractmethod
from html import escape

from qiusuo.testing.server import Answer, Fault, Provider, Seen

PAGE_SIZE = 10


class ResultPageSite(Provider):
    """Answers one path with pages of ten results."""

    path: str = "/search"

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - there are no keys
        return True

    def answer(self, seen: Seen) -> Answer:
        if seen.path != self.path:
            return Answer("<!doctype html><title>404</title>", 404)
        start = self.start(seen)
        return Answer(self.results_page(seen, range(start + 1, min(start + PAGE_SIZE, self.results) + 1)))

    @abstractmethod
    def start(self, seen: Seen) -> int:
        """Return behind how many results the page begins."""

    @abstractmethod
    def results_page(self, seen: Seen, numbers: range) -> str:
        """Return the page with these results; with none of them, the site's word for nothing found."""

    def refuse(self, fault: Fault) -> Answer:
        answer = super().refuse(fault)
        return Answer(f"<!doctype html><title>{answer.status}</title><p>{escape(str(answer.body))}", answer.status)
