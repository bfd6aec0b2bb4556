"""The pack ``flk``: copied politely from a database on loopback, stopped and continued, with its status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from qiusuo.errors import RateLimited, SearchError, Unavailable
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.building.imports import Importer
from qiusuo.legal.building.packs.catalogue import PACKS
from qiusuo.legal.building.packs.flk_sync import EVERYTHING, FlkSync, Synchronised, Wanted
from qiusuo.legal.building.packs.flk_wire import PACE, WAITS
from qiusuo.legal.building.packs.installing import install_pack, pack_folder
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.models import LawKind
from qiusuo.testing import Answer, ProviderServer
from qiusuo.testing.providers.flk import DOWNLOAD_PATH, PATH, FlkLaw, FlkLibrary

FLK = PACKS["flk"]
TEXT = (
    "中华人民共和国风筝法",
    "（2020年1月1日通过）",
    "目 录",
    "第一章 总 则",
    "第二章 附 则",
    "第一章 总 则",
    "第一条 风筝应当有线。",
    "第二章 附 则",
    "第二条 本法自2020年3月1日起施行。",
)
DECISION = ("决定：", "每年三月为全国的风筝月，各地应当组织放飞。")
ALL = Wanted()
KITE = FlkLaw("a" * 32, "中华人民共和国风筝法", "2020-01-01", TEXT, effective="2020-03-01")
LAWS = (
    KITE,
    FlkLaw("b" * 32, "陀螺管理条例", "2015-05-01", ("第一条 陀螺应当能转。",), kind="行政法规", status=1),
    FlkLaw(
        "c" * 32,
        "全国人民代表大会关于风筝月的决定",
        "2021-05-01",
        ("决定：", "每年三月为全国的风筝月，各地应当组织放飞。"),
    ),
    FlkLaw("d" * 32, "中华人民共和国毽子法", "2019-01-01", None),
    FlkLaw("e" * 32, "山城风筝条例", "2018-01-01", ("第一条 山城的风筝应当有线。",), kind="地方性法规"),
)


class World:
    """A database on loopback, a folder, and a clock that only counts."""

    def __init__(self, server: ProviderServer, library: FlkLibrary, root: Path) -> None:
        self.server, self.library, self.folder = server, library, IndexFolder(root)
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def sync(self, wanted: Wanted = ALL) -> Synchronised:
        place = pack_folder(self.folder, FLK)
        return FlkSync(FLK, place, self.server.url, sleep=self.sleep, today=lambda: date(2026, 11, 15)).run(wanted)

    def install(self, wanted: Wanted = ALL) -> RegulationSearch:
        install_pack(Importer(self.folder), FLK, self.sync(wanted).collection)
        return RegulationSearch(IndexHandle(self.folder).get())

    def asked(self, path: str) -> int:
        return sum(seen.path == path for seen in self.server.seen)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    library = FlkLibrary(LAWS)
    with ProviderServer(library) as server:
        library.host = server.url
        yield World(server, library, tmp_path / "index")


def test_titles_texts_days_and_status_are_copied(world: World) -> None:
    search = world.install()
    store = search.index.store
    versions = {version.law.name: version for version in store.versions.values()}
    assert set(versions) == {law.title for law in LAWS[:3]}
    kite = versions[KITE.title]
    assert (kite.published, kite.effective, kite.article_count) == ("2020-01-01", "2020-03-01", 2)
    assert kite.url == f"https://flk.npc.gov.cn/detail?id={KITE.id}"
    (found,) = search.search("风筝法第一条").results
    assert (found.content, found.chapter, found.status) == ("风筝应当有线。", "第一章 总 则", "现行有效")
    assert versions["陀螺管理条例"].law.kind is LawKind.REGULATION
    (gone,) = search.search("陀螺管理条例第一条").results
    assert gone.status == "已废止"
    assert min(world.slept) >= PACE  # one request at a time, each after a pause
    assert len(world.slept) >= len(world.server.seen)


def test_kinds_and_days_choose(world: World) -> None:
    assert world.sync(Wanted(("行政法规",))).listed == 1
    assert world.sync(Wanted(since="2020-06-01")).listed == 1
    assert world.sync(Wanted((EVERYTHING,))).listed == 5


def test_a_second_run_asks_for_no_text_again_and_sees_a_new_status(world: World) -> None:
    first = world.sync()
    assert (first.listed, first.fetched, first.without_text) == (4, 4, 1)
    asked = world.asked(DOWNLOAD_PATH)
    again = world.sync()
    assert (again.fetched, again.without_text, world.asked(DOWNLOAD_PATH)) == (0, 1, asked)
    assert again.collection.revision == first.collection.revision
    world.install()
    world.library.laws[0] = replace(KITE, status=1)
    search = world.install()
    assert search.search("风筝法第一条").results[0].status == "已废止"
    assert world.asked(DOWNLOAD_PATH) == asked + 1


def test_a_refusal_is_waited_for_and_a_stop_is_continued(world: World) -> None:
    busy = Answer({"code": 429, "msg": "请求过于频繁"}, 429, {"Retry-After": "40"})
    world.library.refusals = [busy, Answer({"code": 500, "msg": "系统异常"})]
    assert world.sync(Wanted(since="2021-01-01")).fetched == 1
    assert [wait for wait in world.slept if wait > PACE] == [40.0, WAITS[1]]
    # It does not answer any more after the first text: what has come stays.
    world.server.seen.clear()
    world.library.laws = [replace(law, id=f"x{place:031}") for place, law in enumerate(LAWS)]
    own = world.library.answer

    def until_the_second_text(seen: object) -> Answer:
        return busy if world.asked(DOWNLOAD_PATH) > 1 else own(seen)  # type: ignore[arg-type]

    world.library.answer = until_the_second_text  # type: ignore[method-assign]
    with pytest.raises(SearchError) as caught:
        world.sync()
    assert isinstance(caught.value, RateLimited)
    world.library.answer = own  # type: ignore[method-assign]
    world.server.seen.clear()
    assert world.sync().fetched == 3
    assert world.asked(PATH) == 0  # the list was complete


def test_a_list_of_many_pages_goes_on_where_it_was(world: World) -> None:
    world.library.laws = [FlkLaw(f"{n:032}", f"第{n}号条例", "2020-01-01", None, kind="行政法规") for n in range(250)]
    busy = [Answer({"code": 429, "msg": ""}, 429)] * (len(WAITS) + 1)
    world.library.refusals = []
    own = world.library.answer

    def refuse_the_third_page(seen: object) -> Answer:
        if world.asked(PATH) == 3:
            world.library.refusals = list(busy)
        return own(seen)  # type: ignore[arg-type]

    world.library.answer = refuse_the_third_page  # type: ignore[method-assign]
    with pytest.raises(RateLimited):
        world.sync()
    world.library.answer, world.library.refusals = own, []  # type: ignore[method-assign]
    world.server.seen.clear()
    assert world.sync().listed == 250
    assert [seen.json["pageNum"] for seen in world.server.seen if seen.path == PATH] == [3]


def test_a_database_that_cannot_be_reached_at_all_is_not_waited_for(world: World) -> None:
    world.server.close()
    with pytest.raises(Unavailable):
        world.sync()
    assert [wait for wait in world.slept if wait > PACE] == []
