"""Questions for cases as people put them, and how long the answers take over many judgments."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.judgments.making import FIRST_YEAR, LAST_YEAR, SEED
from eval.legal.data import lecard_queries, stard_texts
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.judgments.cases import CaseFilters, CaseSearch

_KEYS = (
    "醉酒驾驶 缓刑", "民间借贷 利息", "盗窃", "故意伤害 轻伤 谅解", "贩卖毒品 累犯", "合同诈骗", "交通肇事 逃逸",
    "离婚 抚养权", "劳动合同 经济补偿", "房屋租赁 押金", "信用卡诈骗", "非法经营", "开设赌场", "污染环境 危险废物",
    "被告人", "判决", "公司", "有没有入室盗窃判缓刑的案例", "借钱不还的判例", "工伤赔偿的案例",
)  # fmt: skip
_COURTS = ("长沙", "北京市", "人民法院", "上海市闵行区", "广东省", "中级人民法院", "杭州市西湖区人民法院")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of one kind."""

    kind: str
    words: str
    filters: CaseFilters


def questions(index: IndexHandle, count: int) -> Iterator[Asked]:
    """Yield a mixture of questions; the same every time."""
    chance = random.Random(SEED)
    facts = [query.text for query in lecard_queries()]
    lay = stard_texts()
    store = index.get().store
    cases = store.stats(index.get().generation).cases
    for place in range(count):
        kind = place % 10
        year = chance.randint(FIRST_YEAR, LAST_YEAR)
        words = chance.choice(_KEYS)
        if kind == 0:
            known = store.case(chance.randint(1, cases))
            yield Asked("案号", known.number if known else words, CaseFilters())
        elif kind in {1, 2}:
            yield Asked("key words", words, CaseFilters())
        elif kind == 3:
            yield Asked("key words, type", words, CaseFilters(case_type=chance.choice(("刑事", "民事", "行政"))))
        elif kind == 4:
            yield Asked("key words, court", words, CaseFilters(court=chance.choice(_COURTS)))
        elif kind == 5:
            days = CaseFilters(date_from=f"{year}-01-01", date_to=f"{year + chance.randint(0, 3)}-12-31")
            yield Asked("key words, days", words, days)
        elif kind == 6:
            everything = CaseFilters("刑事", chance.choice(_COURTS), f"{year}-01-01", "2025-12-31")
            yield Asked("facts, type, court, days", chance.choice(facts)[:200], everything)
        elif kind == 7:
            yield Asked("lay question", chance.choice(lay), CaseFilters())
        elif kind == 8:
            yield Asked("facts, days", chance.choice(facts), CaseFilters(date_from=f"{year}-01-01"))
        else:
            yield Asked("facts", chance.choice(facts), CaseFilters())


def ask_all(folder: Path, count: int) -> dict[str, tuple[list[float], list[float], int]]:
    """Ask, and return by kind the milliseconds, those of the processor, and how many answers there were."""
    handle = IndexHandle(IndexFolder(folder))
    search = CaseSearch(handle.get())
    asked = list(questions(handle, count))
    for one in asked[:40]:
        search.search(one.words, one.filters, 10)
    times: dict[str, tuple[list[float], list[float], int]] = defaultdict(lambda: ([], [], 0))
    for one in asked:
        begun, cpu = time.perf_counter(), time.process_time()
        found = search.search(one.words, one.filters, 10)
        took, spent = time.perf_counter() - begun, time.process_time() - cpu
        for kind in (one.kind, "all"):
            walls, processors, results = times[kind]
            walls.append(took * 1000)
            processors.append(spent * 1000)
            times[kind] = (walls, processors, results + len(found.results))
    return times


def show(times: dict[str, tuple[list[float], list[float], int]]) -> None:
    """Print a row for each kind."""
    print("| questions | | median ms | p95 ms | median CPU ms | p95 CPU ms | answers each |")
    for kind, (walls, processors, results) in times.items():
        wall = f"{_share(walls, 0.5):.1f} | {_share(walls, 0.95):.1f}"
        spent = f"{_share(processors, 0.5):.1f} | {_share(processors, 0.95):.1f}"
        print(f"| {kind} | {len(walls)} | {wall} | {spent} | {results / len(walls):.1f} |")


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
