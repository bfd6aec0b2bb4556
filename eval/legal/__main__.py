"""Print the tables of legal search: quality, time, size. ``python -m eval.legal --help`` tells the options."""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from eval.legal import asked, data, folds, lay, wording
from eval.legal.goals import GOALS, Reached
from eval.legal.lecard import candidates_in_order, leave_one_out
from eval.legal.measures import lecard_measures, stard_measures
from eval.legal.priors import CrossValidation
from qiusuo.errors import ConfigurationError
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.building.lookup_check import WRITINGS, check_lookups
from qiusuo.legal.index import semantic
from qiusuo.legal.index.asked import MARKS
from qiusuo.legal.index.folder import IndexFolder, legal_folder
from qiusuo.legal.index.handle import CANDIDATES, IndexHandle, LegalIndex
from qiusuo.legal.index.ranking import question_tokens
from qiusuo.legal.index.wording import TABLE
from qiusuo.legal.judgments.case_ranking import ranked_cases
from qiusuo.legal.models import Hit

DEPTH = 100
WITHOUT = " without written questions"
LARGEST_CODE = "中华人民共和国民法典"


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--semantic", action="store_true", help="also with the sentence encoder (minutes)")
    parser.add_argument("--lookup", action="store_true", help="every installed article in all twelve writings")
    parser.add_argument("--only", choices=("stard", "lecard", "lookup", "lay"), help="one part alone")
    parser.add_argument("--folder", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--fit-wording", action="store_true", help="fit the table of wording on all train questions")
    parser.add_argument("--fit-lens", action="store_true", help="fit the encoder's lens on all train questions")
    parser.add_argument("--fit-told", action="store_true", help="fit what tells questions of lay people from others")
    parser.add_argument("--mark-asked", action="store_true", help="mark the articles that questions were written for")
    wanted = parser.parse_args()
    if wanted.mark_asked:
        mark_asked()
        return 0
    if wanted.only in {None, "lookup"} and (wanted.lookup or wanted.only):
        lookup_table()
    reached = Reached()
    if wanted.only in {None, "lay"} and not (wanted.fit_wording or wanted.fit_lens or wanted.fit_told):
        lay_table(reached)
    if not data.SHARED.is_dir():
        print(f"!! SKIPPED: the collections are not in {data.SHARED}")
        return 0
    if wanted.fit_told:
        fit_told()
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        work = wanted.folder or Path(temporary)
        if wanted.fit_wording:
            fit_wording(work / "stard")
            return 0
        if wanted.fit_lens:
            fit_lens(work / "stard")
            return 0
        if wanted.only in {None, "stard"}:
            stard_table(work / "stard", reached, with_vectors=wanted.semantic)
        if wanted.only in {None, "lecard"}:
            lecard_table(work / "lecard", reached)
    print("\n## Goals\n", *reached.table(), sep="\n")
    return 0


def lay_table(reached: Reached) -> None:
    """Print how questions of lay people are answered by the installed laws, and which are taken for legal ones."""
    print("\n## Lay questions in whole sentences (installed laws)\n")
    rows, everyday = lay.lay_questions(), lay.everyday_questions()
    aside = [row for row in everyday if int(str(row["id"])[-3:]) % 2 == 0]
    parts = {part: [row for row in rows if row["part"] == part] for part in ("tuned", "held_out")}
    try:
        index = IndexHandle(IndexFolder(legal_folder())).get()
    except ConfigurationError as error:
        print(f"!! SKIPPED: {error.message} {error.fix}")
    else:
        print("with the sentence encoder" if index.vectors is not None else "by words alone: the index has no vectors")
        written = index.asked
        for part, some in parts.items():
            for index.asked in (None, written):
                counted = lay.count(index, some)
                print(f"{part}{_without(index)}: {counted}", flush=True)
                reached.note("lay", counted.first_two / counted.questions, without=index.asked is None)
        search = RegulationSearch(index)
        confident = sum(search.search(str(row["question"])).answers for row in aside)
        print(f"everyday, even ids: {confident} of {len(aside)} answered out of statutes")
        reached.values["confident"] = confident / len(aside)
    for part, some in parts.items():
        known = lay.recognised(some)
        print(f"{part}: {known} of {len(some)} recognised as legal")
        reached.values["recognised"] = known / len(some)
    taken = lay.recognised(aside)
    print(f"everyday, even ids: {taken} of {len(aside)} taken for legal")
    reached.values["false"] = taken / len(aside)


def stard_table(folder: Path, reached: Reached, *, with_vectors: bool) -> None:
    """Print recall, MRR, nDCG and CPU time on the train questions of STARD."""
    print("\n## STARD train (lay questions -> articles)\n")
    if with_vectors and not semantic.is_installed():
        print("!! SKIPPED: the sentence encoder is not installed (extra semantic)")
        with_vectors = False
    index, report = data.build(folder, "stard_corpus.jsonl.gz", with_vectors=with_vectors)
    _print_build("hybrid" if with_vectors else "words", index, report.seconds)
    questions = data.stard_questions(index)
    _print_row("", ["R@5", "R@10", "R@20", "R@100", "MRR@10", "nDCG@10", "ms p50", "ms p95"])
    _stard_rows("words of the question alone", questions, lambda text: _by_own_words(index, text))
    shipped, index.wording = index.wording, {}
    _stard_rows("words, no fitted table", questions, lambda text: index.rank_articles(text, DEPTH, semantic=False))
    index.wording = shipped
    _stard_rows(
        "words as shipped (table saw these)", questions, lambda text: index.rank_articles(text, DEPTH, semantic=False)
    )
    written = index.asked
    for name, parts in _kinds_of_folds(questions):
        for index.asked in (None, written):
            label = f"words{_without(index)}, {name}"
            measures = _rows(label, questions, CrossValidation(index, questions, parts).rankings(DEPTH))
            reached.note("words", measures["R@10"], without=index.asked is None)
    if with_vectors:
        hybrid_rows(index, questions, reached)


def hybrid_rows(index: LegalIndex, questions: Sequence[data.Question], reached: Reached) -> None:
    """Print the same with the sentence encoder: with nothing fitted, and with what was fitted on other questions."""
    from eval.legal import lens  # noqa: PLC0415 - needs numpy, which comes with the extra

    against = lens.rivals(index, questions)
    if index.vectors is not None:
        index.vectors.question.cache_clear()  # a question that comes again costs nothing, which is not what is measured
    reached.values["ms"] = _stard_rows(
        "hybrid, no fitted table or lens", questions, lambda text: index.rank_articles(text, DEPTH)
    )
    for name, parts in _kinds_of_folds(questions):
        known = CrossValidation(index, questions, parts)
        plain, ranked = lens.held_out(index, questions, against, known, DEPTH)
        without = _rows(f"hybrid{WITHOUT}, {name}", questions, plain)
        measures = _rows(f"hybrid, {name}", questions, ranked)
        if "hybrid" not in reached.values:
            reached.note("hybrid", without["R@10"], without=True)
            reached.note("hybrid mrr", without["MRR@10"], without=True)
            reached.values |= {"hybrid": measures["R@10"], "hybrid mrr": measures["MRR@10"]}
        else:
            reached.note("hybrid apart", without["R@10"], without=True)
            reached.values["hybrid apart"] = measures["R@10"]


def fit_wording(folder: Path) -> None:
    """Fit the table of wording on all train questions and write it into the package."""
    index, _ = data.build(folder, "stard_corpus.jsonl.gz")
    wording.write(index, data.stard_questions(index))
    print(f"wrote {TABLE}, {TABLE.stat().st_size / 1e3:.0f} kB")


def fit_told() -> None:
    """Fit the weights on all questions and write them into the package; by folds it is told how well they do."""
    from eval.legal import told  # noqa: PLC0415 - needs numpy, which comes with the extra

    legal, everyday = told.told_legal(data.stard_texts()), told.told_everyday()
    right, wrong = told.by_folds(legal, everyday)
    print(f"by folds: {right:.3f} of {len(legal)} legal questions, {wrong:.3f} of {len(everyday)} everyday ones")
    told.write(told.fit(legal, everyday))


def fit_lens(folder: Path) -> None:
    """Fit the lens on all train questions and write it into the package."""
    from eval.legal import lens  # noqa: PLC0415 - needs numpy, which comes with the extra

    index, _ = data.build(folder, "stard_corpus.jsonl.gz", with_vectors=True)
    lens.write(index, data.stard_questions(index))
    print(f"wrote {semantic.LENS}, {semantic.LENS.stat().st_size / 1e3:.0f} kB")


def lecard_table(folder: Path, reached: Reached) -> None:
    """Print precision, MAP and NDCG on LeCaRD, each query's own candidates ranked."""
    print("\n## LeCaRD (facts -> similar judgments, 30 candidates each)\n")
    index, report = data.build(folder, "lecard_cases.jsonl.gz")
    _print_build("judgments", index, report.seconds)
    queries, ids = data.lecard_queries(), data.lecard_ids(index)
    ranked, times = [], []
    for query in queries:
        started = time.process_time()
        hits = ranked_cases(index, query.text, len(ids))
        times.append((time.process_time() - started) * 1000)
        ranked.append(candidates_in_order(query, hits, ids))
    grades = [query.grades for query in queries]
    measures = lecard_measures(ranked, grades)
    _print_row("", [*measures, "ms p50", "ms p95"])
    values = [f"{value:.3f}" for value in measures.values()]
    _print_row(f"words, {len(queries)} queries", [*values, *_percentiles(times)])
    measures = lecard_measures(leave_one_out(index, queries, ids), grades)
    _print_row("words, variant chosen on the other queries", [f"{value:.3f}" for value in measures.values()])
    reached.values |= {name: value for name, value in measures.items() if name in GOALS}


def lookup_table() -> None:
    """Print how many references to installed articles lead to exactly their article."""
    print("\n## Exact look-up (installed statutes)\n")
    handle = IndexHandle(IndexFolder(legal_folder()))
    if not handle.is_there():
        print("!! SKIPPED: run qiusuo legal install first")
        return
    started = time.process_time()
    checked, wrong = check_lookups(handle.get())
    seconds = time.process_time() - started
    print(f"{checked - len(wrong):,} of {checked:,} right ({len(WRITINGS)} writings), {seconds:.0f} s CPU")
    for text in wrong[:20]:
        print(f"  wrong: {text}")


def mark_asked() -> None:
    """Write the marks of the articles that questions were written for."""
    print(f"wrote {MARKS}, {asked.write_marks(IndexHandle(IndexFolder(legal_folder())).get()):,} articles")


def _without(index: LegalIndex) -> str:
    return WITHOUT if index.asked is None else ""


def _by_own_words(index: LegalIndex, question: str) -> list[Hit]:
    """Return the ranking without the list of everyday words and without the fitted table."""
    found = index.scores_of(dict.fromkeys(question_tokens(question), 1.0), CANDIDATES)
    hits = [Hit(article, score + index.prior_of(article)) for article, score in found.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:DEPTH]


def _kinds_of_folds(questions: Sequence[data.Question]) -> Iterator[tuple[str, folds.Folds]]:
    yield "fitted on other folds", folds.by_chance(len(questions))
    yield "no article in two folds", folds.by_article(questions)


def _stard_rows(name: str, questions: Sequence[data.Question], rank: Callable[[str], list[Hit]]) -> float:
    """Print a row and return the time that 95 of 100 questions stay below."""
    ranked, times = [], []
    for question in questions:
        started = time.process_time()
        hits = rank(question.text)
        times.append((time.process_time() - started) * 1000)
        ranked.append([hit.id for hit in hits])
    _rows(name, questions, ranked, _percentiles(times))
    return float(_percentiles(times)[1])


def _rows(
    name: str, questions: Sequence[data.Question], ranked: Sequence[Sequence[int]], times: Sequence[str] = ()
) -> dict[str, float]:
    """Print a row for all questions and one for those not on the largest code; return the measures of the first."""
    others = [place for place, question in enumerate(questions) if LARGEST_CODE not in question.laws]
    measures = stard_measures(ranked, [set(question.gold) for question in questions])
    _print_row(f"{name}, {len(questions)} questions", [*(f"{value:.3f}" for value in measures.values()), *times])
    apart = stard_measures([ranked[place] for place in others], [set(questions[place].gold) for place in others])
    _print_row(f"  of them not on the largest code, {len(others)}", [f"{value:.3f}" for value in apart.values()])
    return measures


def _percentiles(times: list[float]) -> list[str]:
    ordered = sorted(times)
    return [f"{ordered[len(ordered) // 2]:.1f}", f"{ordered[int(len(ordered) * 0.95)]:.1f}"]


def _print_build(name: str, index: LegalIndex, seconds: float) -> None:
    stats = index.store.stats(index.generation)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name}: {stats.articles:,} articles, {stats.cases:,} judgments, built in {seconds:.0f} s, "
        f"{stats.size_bytes / 1e6:.0f} MB on disk, peak memory so far {memory:.0f} MB",
        flush=True,
    )


def _print_row(name: str, values: list[str]) -> None:
    print(f"{name:<46}" + "".join(f"{value:>9}" for value in values), flush=True)


if __name__ == "__main__":
    sys.exit(main())
