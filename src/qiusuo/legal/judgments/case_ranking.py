"""The order of judgments: their facts and words, what they are about (案由, title), and from where on they are shown.

A description of facts is compared with facts; judgments on the matter that most of the nearest ones are about gain. Key
words count most where title or 案由 has them: 民间借贷 asks for 民间借贷纠纷, not for a fraud in which money was lent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from qiusuo.legal.index.handle import FACTS_CHARS, LegalIndex
from qiusuo.legal.index.ranking import Filters, question_tokens
from qiusuo.legal.index.wording import legal_pairs
from qiusuo.legal.models import Case, Hit
from qiusuo.legal.recognising.asked_cases import is_about_law

CANDIDATES: Final = 500
# By LeCaRD: every share from .05 to .3 and 5 to 30 voters gain.
VOTERS: Final = 20
VOTE_WEIGHT: Final = 0.2
_NEAREST_COUNT_MOST: Final = 4
TITLE_WEIGHT: Final = 1.0
# Less than this share of what is asked for, rare words counting more, and a judgment has nothing to do with it.
_LEAST_RARITY: Final = 0.01
LEAST_SHARE: Final = 0.5
LEAST_SHARE_OF_ANYTHING: Final = 0.9  # long judgments have every word of daily life
LEAST_SHARE_OF_FACTS: Final = 0.1


def ranked_cases(index: LegalIndex, words: str, limit: int, filters: Filters | None = None) -> list[Hit]:
    """Return the judgments that fit the words best, only those that the filters admit."""
    hits = index.rank_cases(words, max(limit, CANDIDATES), filters)
    ranked = with_votes(index, hits) if len(words) > FACTS_CHARS else _with_titles(index, words, hits)
    return ranked[:limit]


def with_votes(index: LegalIndex, hits: Sequence[Hit], weight: float = VOTE_WEIGHT) -> list[Hit]:
    """Return the judgments with what they gain by their matter: more, the more of the nearest ones are about it."""
    near, about = _relative(hits), index.store.case_titles(hit.id for hit in hits)
    votes: defaultdict[str, float] = defaultdict(float)
    for hit in near[:VOTERS]:
        votes[about[hit.id][1]] += hit.score**_NEAREST_COUNT_MOST
    votes.pop("", None)
    total = sum(votes.values()) or 1.0
    return _in_order(Hit(hit.id, hit.score + weight * (votes[about[hit.id][1]] / total) ** 0.5) for hit in near)


def _with_titles(index: LegalIndex, words: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the judgments with what they gain by key words in their title or 案由."""
    pairs = [token for token in question_tokens(words) if len(token) > 1]
    titles = {one: "".join(said) for one, said in index.store.case_titles(hit.id for hit in hits).items()}
    shares = {one: sum(pair in title for pair in pairs) / max(1, len(pairs)) for one, title in titles.items()}
    return _in_order(Hit(hit.id, hit.score + TITLE_WEIGHT * shares[hit.id]) for hit in _relative(hits))


def _relative(hits: Sequence[Hit]) -> list[Hit]:
    return [Hit(hit.id, hit.score / hits[0].score) for hit in hits]


def _in_order(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


class Nearness:
    """Tells whether a judgment has to do with what is asked for; what the words weigh is looked up once."""

    def __init__(self, index: LegalIndex, words: str) -> None:
        self._words = words.strip()
        self._pairs = [token for token in question_tokens(words) if len(token) > 1]
        meant = legal_pairs(words)  # 盗窃 where somebody writes 偷
        told = {pair: index.case_rarity(pair) for pair in (*self._pairs, *meant)}
        self._rarities = {pair: max(1.0 if one is None else one, _LEAST_RARITY) for pair, one in told.items()}
        if len(words) > FACTS_CHARS:
            self._least = LEAST_SHARE_OF_FACTS
        else:
            few = None in told.values()
            self._least = LEAST_SHARE if few or meant or is_about_law(words) else LEAST_SHARE_OF_ANYTHING

    def holds(self, case: Case) -> bool:
        """Tell whether a judgment has enough of what is asked for."""
        if not self._pairs:
            return self._words in f"{case.name}{case.cause}"
        text = f"{case.name}{case.cause}{case.facts}{case.reasoning}{case.verdict}{case.text}".lower()
        asked = sum(self._rarities[pair] for pair in self._pairs)
        return sum(rarity for pair, rarity in self._rarities.items() if pair in text) / asked >= self._least
