"""LeCaRD: candidates in the order of a ranking, and the variant of ranking chosen without the query it is used on."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from eval.legal.data import FactQuery
from eval.legal.measures import lecard_measures
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.index.ranking import fact_tokens, tokens
from qiusuo.legal.judgments.case_ranking import with_votes
from qiusuo.legal.models import Hit

# What was chosen by hand: the fields and their weights, whether numbers and Latin letters count, which share of all
# judgments may have a word before it is left out, and what the matter of the nearest judgments weighs.
_WEIGHTS: tuple[Mapping[str, float], ...] = ({"facts": 1.0}, {"facts": 1.0, "rest": 0.1}, {"facts": 1.0, "rest": 0.3})
_TOKENS = {"words": fact_tokens, "words and numbers": tokens}
_SHARES = (0.3, 0.5, 1.0)
_VOTES = (0.0, 0.1, 0.2, 0.3)


def candidates_in_order(query: FactQuery, hits: Sequence[Hit], ids: Mapping[int, list[str]]) -> list[str]:
    """Return the candidates of a query in the order of a ranking, then those it does not have."""
    order = [case for hit in hits for case in ids[hit.id] if case in query.grades]
    return [*order, *(case for case in query.grades if case not in order)]


def leave_one_out(index: LegalIndex, queries: Sequence[FactQuery], ids: Mapping[int, list[str]]) -> list[list[str]]:
    """Return each query's ranking by the variant that is best (NDCG@10 + MAP) for all other queries."""
    ranked: list[list[list[str]]] = []
    quality: list[list[float]] = []
    for weights, (name, cut), share in itertools.product(_WEIGHTS, _TOKENS.items(), _SHARES):
        hits = []
        for query in queries:
            words = index._cases.without_common(dict.fromkeys(cut(query.text), 1.0), "facts", share)  # noqa: SLF001 - a variant
            hits.append(index._cases.search(words, weights, len(ids)))  # noqa: SLF001 - a variant
        for vote in _VOTES:
            found = [
                candidates_in_order(query, with_votes(index, near, vote), ids)
                for query, near in zip(queries, hits, strict=True)
            ]
            each = [lecard_measures([order], [query.grades]) for order, query in zip(found, queries, strict=True)]
            quality.append([measures["NDCG@10"] + measures["MAP"] for measures in each])
            variant = f"{dict(weights)}, {name}, share {share}, vote {vote}"
            print(f"  variant {variant}: {sum(quality[-1]) / len(queries):.3f}", flush=True)
            ranked.append(found)
    chosen = []
    for place in range(len(queries)):
        without = [sum(values) - values[place] for values in quality]
        chosen.append(ranked[without.index(max(without))][place])
    return chosen
