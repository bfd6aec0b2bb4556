"""How engines are found: every file of the folder, and packages that bring one by an entry point."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

import qiusuo.engines
from qiusuo import Query, SearchResultItem, SearchService
from qiusuo.doctor import examine
from qiusuo.engines import SearchEngine, discover_engines, left_out
from qiusuo.errors import DuplicateEngine
from qiusuo.plugins import GROUP
from qiusuo.testing.conformance import EngineConformance

ROOT = Path(__file__).resolve().parents[2]

ENGINE = """
    from qiusuo import SearchEngine, SearchResultItem

    class {cls}(SearchEngine):
        '''Knows the answers itself, so that no network is needed.'''

        name = "{name}"
        label = "The {name} engine"
        docs_url = "https://{name}.example/keys"
        costs_money = False
        priority = 1

        @classmethod
        def from_options(cls, options, http):
            {build}

        async def search(self, query, num_results):
            return [
                SearchResultItem(f"{{query.text}} {{number}}", f"https://{name}.example/{{number}}", "found by itself")
                for number in range(1, num_results + 1)
            ]
"""
ONLY_SEARCH = """
    from qiusuo import SearchEngine, SearchResultItem

    class DemoEngine(SearchEngine):
        async def search(self, query, num_results):
            return [SearchResultItem(query.text, "https://demo.example/1", "found by itself")]
"""
# They ask nobody, so that no wire can fail.
WITHOUT_A_WIRE = {"laws"}
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Lay out a real distribution with an entry point and put it on the path."""
    before = set(sys.modules)

    def install_package(
        module: str, name: str = "demo", *, target: str = "", source: str | None = None, build: str = "return cls()"
    ) -> Path:
        site = tmp_path / "site"
        info = site / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        cls = "DemoEngine"
        text = dedent(ENGINE).format(cls=cls, name=name, build=build) if source is None else dedent(source)
        (site / f"{module}.py").write_text(text)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{module} = {module}:{target or cls}\n")
        monkeypatch.syspath_prepend(site)
        return site

    yield install_package
    for module in set(sys.modules) - before:
        if module.startswith("qiusuo_demo"):
            del sys.modules[module]


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "qiusuo", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


class TestPlugIn:
    def test_is_found_with_its_place_in_the_order(self, install: Install) -> None:
        assert "demo" not in discover_engines()
        install("qiusuo_demo_found")
        found = discover_engines()
        assert next(iter(found)) == "demo"
        assert found["demo"].label == "The demo engine"

    def test_brings_its_words_and_cannot_change_ours(self, install: Install) -> None:
        site = install("qiusuo_demo_words")
        words = site / "words"
        words.mkdir()
        (words / "demo.toml").write_text('[closed]\nzh = "{shop} 关门了。"\nen = "{shop} is closed."\n', "utf-8")
        (words / "http.toml").write_text('[dns]\nzh = "假"\nen = "false"\n', "utf-8")
        code = (
            "from qiusuo.words import Fact, Language\n"
            "fact = Fact('demo.closed', shop='Acme')\n"
            "print(ascii([fact.text(), fact.text(Language.CHINESE), Fact('http.dns', host='h').text()]))"
        )
        done = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        assert eval(done.stdout) == [  # noqa: S307 - our own list
            "Acme is closed.",
            "Acme 关门了。",
            "The name h cannot be resolved.",
        ]

    async def test_is_asked_by_the_service(self, install: Install) -> None:
        install("qiusuo_demo_service")
        async with SearchService.from_settings() as service:
            assert await service.available() == ("demo",)
            response = await service.asearch("它自己就知道", num_results=3)
        assert response.provider == "demo"
        assert [item.title for item in response.results] == ["它自己就知道 1", "它自己就知道 2", "它自己就知道 3"]
        assert {item.engines for item in response.results} == {("demo",)}

    async def test_one_with_a_search_and_nothing_else_is_asked_by_the_service(self, install: Install) -> None:
        install("qiusuo_demo_only_search", source=ONLY_SEARCH)
        async with SearchService.from_settings() as service:
            assert await service.available() == ("demo",)
            assert (await service.asearch("茶", engine="demo")).results[0].title == "茶"

    @pytest.mark.programs
    def test_is_seen_and_used_by_the_command_line(self, install: Install) -> None:
        site = install("qiusuo_demo_cli")
        listed = json.loads(run(site, "engines", "--json").stdout)
        assert listed["order"] == ["demo"]
        (demo,) = [engine for engine in listed["engines"] if engine["name"] == "demo"]
        assert (demo["state"], demo["label"]) == ("ready", "The demo engine")
        done = run(site, "search", "hello", "--json", "--engine", "demo")
        assert done.returncode == 0
        assert json.loads(done.stdout)["results"][0]["url"] == "https://demo.example/1"

    def test_is_in_the_table_of_the_docs(self, install: Install) -> None:
        script = ROOT / "scripts" / "docs.py"
        if not script.exists():
            pytest.skip("scripts/docs.py is not there yet: THE DOCS TABLE IS NOT CHECKED")
        install("qiusuo_demo_docs")
        spec = importlib.util.spec_from_file_location("qiusuo_demo_docs_script", script)
        assert spec is not None
        assert spec.loader is not None
        docs = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(docs)
        assert "[The demo engine](https://demo.example/keys)" in docs.engine_table()

    def test_a_name_that_is_taken_stays_with_ours_and_the_other_is_told(
        self, install: Install, caplog: pytest.LogCaptureFixture
    ) -> None:
        install("qiusuo_demo_twin", "tavily")
        assert discover_engines()["tavily"].__module__ == "qiusuo.engines.tavily"
        [fact] = left_out()
        assert (fact.code, fact.values["package"], fact.values["owner"]) == (
            "plugin.engine_taken",
            "qiusuo_demo_twin",
            "qiusuo",
        )
        assert len([record for record in caplog.records if "qiusuo_demo_twin" in record.getMessage()]) == 1

    @pytest.mark.parametrize(
        ("attribute", "value"),
        [
            ("priority", "'high'"),
            ("priority", "None"),
            ("name", "7"),
            ("label", "None"),
            ("key_env", "'DEMO_API_KEY'"),
            ("key_env", "(7,)"),
            ("search_types", "'general'"),
            ("search_types", "{'everything'}"),
            ("features", "'news'"),
            ("features", "None"),
            ("max_results", "'20'"),
            ("max_results", "0"),
            ("max_query_chars", "'300'"),
            ("requests_per_second", "0"),
            ("storing", "'shared'"),
            ("joins", "'named'"),
            ("costs_money", "'no'"),
            ("price_per_search", "0.005"),
            ("own_settings", "['shop']"),
        ],
    )
    def test_an_attribute_that_others_cannot_use_leaves_the_engine_out(
        self, attribute: str, value: str, install: Install, caplog: pytest.LogCaptureFixture
    ) -> None:
        before = list(discover_engines())
        module = f"qiusuo_demo_{attribute}_{abs(hash(value))}"  # of its own: what is loaded is kept by its name
        install(module, source=f"{dedent(ONLY_SEARCH)}\n    {attribute} = {value}\n")
        assert list(discover_engines()) == before
        [fact] = left_out()
        values = fact.values
        assert (fact.code, values["name"], values["attribute"]) == ("plugin.engine_attribute", module, attribute)
        assert values["engine"] == f"{module}:DemoEngine"
        assert "left out" in caplog.text

    @pytest.mark.parametrize(
        ("module", "options"),
        [
            ("qiusuo_demo_import", {"source": "import a_module_that_nobody_has"}),
            ("qiusuo_demo_fault", {"source": "1 / 0"}),
            ("qiusuo_demo_absent", {"target": "Other"}),
            ("qiusuo_demo_function", {"source": "def DemoEngine(): ..."}),
            ("qiusuo_demo_class", {"source": "class DemoEngine: name = 'demo'"}),
            ("qiusuo_demo_nameless", {"name": ""}),
            (
                "qiusuo_demo_searchless",
                {"source": "import qiusuo\nclass DemoEngine(qiusuo.SearchEngine): name = 'demo'"},
            ),
        ],
    )
    def test_a_broken_one_is_logged_and_left_out(
        self, module: str, options: dict[str, str], install: Install, caplog: pytest.LogCaptureFixture
    ) -> None:
        before = list(discover_engines())
        install(module, **options)
        assert list(discover_engines()) == before
        assert module in caplog.text
        assert "left out" in caplog.text

    async def test_one_that_cannot_be_built_does_not_take_the_others_along(
        self, install: Install, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TAVILY_API_KEY", "t")
        install("qiusuo_demo_builder", build="raise KeyError('its own fault')")
        async with SearchService.from_settings() as service:
            assert await service.available() == ("tavily",)
            (demo,) = [status for status in await service.status() if status.name == "demo"]
            told = {one.code: one.values for one in await examine(service.settings, service, quick=True)}
        assert demo.state == "missing"
        assert "KeyError" in demo.reason
        assert "its own fault" in caplog.text
        assert told["provider.failed"]["label"] == "The demo engine"


class Own(SearchEngine):
    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        return [SearchResultItem(query.text, "https://own.example/1", f"one of {num_results}")]


def test_two_engines_of_one_name_in_code_are_an_error() -> None:
    with pytest.raises(DuplicateEngine) as caught:
        SearchService([Own(), Own()])
    assert caught.value.engine == "own"


async def test_an_engine_with_a_search_and_nothing_else_can_be_given_to_a_service() -> None:
    async with SearchService([Own()]) as service:
        response = await service.asearch("茶", num_results=3)
    assert response.provider == "own"
    assert (response.results[0].title, response.results[0].engines) == ("茶", ("own",))


def engines_of(module_name: str) -> list[type[SearchEngine]]:
    module = importlib.import_module(f"qiusuo.engines.{module_name}")
    return [kind for kind in discover_engines().values() if kind.__module__ == module.__name__]


class TestBuiltIn:
    MODULES = tuple(module.name for module in pkgutil.iter_modules(qiusuo.engines.__path__) if module.name != "base")

    @pytest.mark.parametrize("module", MODULES)
    def test_every_file_of_the_folder_gives_an_engine(self, module: str) -> None:
        if engines_of(module):
            return
        # A file without an engine is what several engines share.
        folder = Path(inspect.getfile(qiusuo.engines)).parent
        users = [path.stem for path in folder.glob("*.py") if f"qiusuo.engines.{module} import" in path.read_text()]
        assert users, f"{module}.py holds no engine and no engine uses it"

    def test_names_are_plain_and_facts_are_stated(self) -> None:
        for name, kind in discover_engines().items():
            assert name == kind.name
            assert name.isidentifier()
            assert name == name.lower()
            assert kind.label
            assert kind.docs_url.startswith("https://")
            assert kind.__doc__

    def test_every_engine_goes_through_the_table_of_faults(self) -> None:
        for path in (ROOT / "tests").rglob("test_*.py"):
            if path != Path(__file__) and "Conformance)" in path.read_text("utf-8"):
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        tested = {kind.engine_class for kind in subclasses(EngineConformance) if hasattr(kind, "engine_class")}
        own = {kind for kind in discover_engines().values() if kind.__module__.startswith("qiusuo.")}
        assert {kind.name for kind in own - tested} - WITHOUT_A_WIRE == set()


def subclasses(kind: type[EngineConformance]) -> Iterator[type[EngineConformance]]:
    for narrower in kind.__subclasses__():
        yield narrower
        yield from subclasses(narrower)
