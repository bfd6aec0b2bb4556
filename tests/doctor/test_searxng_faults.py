"""A fault of SearXNG has one name: what a search meets is what the doctor finds, with the same values and commands."""

from __future__ import annotations

import pytest

from qiusuo.config import Settings
from qiusuo.doctor import Level
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import AllEnginesFailed, EngineError
from qiusuo.models import Query
from qiusuo.service import SearchService
from qiusuo.testing import Answer, ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.words import Language
from tests.support.doctor_support import Canned, diagnose
from tests.support.searxng_process import free_port

pytestmark = pytest.mark.usefixtures("own_data_folder")


def without_json() -> Searxng:
    provider = Searxng()
    provider.json_on = False
    return provider


async def met(url: str) -> EngineError:
    engine = SearxngEngine(base_url=url)
    with pytest.raises(EngineError) as caught:
        await engine.search(Query("x"), 5)
    await engine.aclose()
    return caught.value


async def assert_one_name(monkeypatch: pytest.MonkeyPatch, url: str, code: str, *, quick: bool = True) -> None:
    error = await met(url)
    (finding,) = [one for one in await diagnose(monkeypatch, url, quick=quick) if one.level >= Level.PROBLEM]
    assert (error.fact.code, finding.code) == (code, code)
    assert error.fact == finding.fact
    assert error.commands == finding.commands
    for language in Language:
        assert error.wording(language) == finding.wording(language)
        assert error.wording(language).fix


class TestOneName:
    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            (Answer("<title>Login</title>", 401), "searxng.login"),
            (Answer({"error": "no"}, 403), "searxng.login"),
            (Answer("", 301, {"Location": "https://search.example.org/"}), "searxng.redirect"),
            (Answer("<title>Welcome to nginx!</title>"), "searxng.other_service"),
            (Answer({"hello": 1}), "searxng.other_service"),
            (Answer("<title>404</title>", 404), "searxng.other_service"),
            (Answer("<title>502 Bad Gateway</title>", 502), "searxng.broken"),
            (Answer("Too Many Requests", 429), "searxng.limiter"),
        ],
    )
    async def test_of_what_else_answers(self, monkeypatch: pytest.MonkeyPatch, answer: Answer, code: str) -> None:
        monkeypatch.setattr("qiusuo.doctor.searxng.absent.USUAL_PORTS", (free_port(),))
        with ProviderServer(Canned(answer)) as other:
            await assert_one_name(monkeypatch, other.url, code)

    async def test_of_json_that_is_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with ProviderServer(without_json()) as server:
            await assert_one_name(monkeypatch, server.url, "searxng.json_off")

    @pytest.mark.parametrize(
        ("message", "code"),
        [
            ("CAPTCHA", "searxng.engines_blocked"),
            ("timeout", "searxng.engines_timeout"),
            ("HTTP connection error", "searxng.engines_offline"),
            ("unexpected crash", "searxng.engines_failing"),
        ],
    )
    async def test_of_silent_engines(self, monkeypatch: pytest.MonkeyPatch, message: str, code: str) -> None:
        provider = Searxng()
        provider.unresponsive = tuple((f"engine{number}", message) for number in range(10))
        with ProviderServer(provider) as server:
            server.empty = True
            await assert_one_name(monkeypatch, server.url, code, quick=False)

    async def test_of_nobody_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("qiusuo.doctor.searxng.absent.USUAL_PORTS", (free_port(),))
        await assert_one_name(monkeypatch, f"http://127.0.0.1:{free_port()}", "searxng.refused")

    async def test_of_an_unknown_host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        await assert_one_name(monkeypatch, "http://searxng.invalid:8080", "searxng.dns")


class TestSearch:
    async def test_the_cause_reaches_whoever_searches(self) -> None:
        with ProviderServer(without_json()) as server:
            async with SearchService.from_settings(Settings.load(searxng_url=server.url)) as service:
                for _ in range(2):  # the second time it rests, and still says why
                    with pytest.raises(AllEnginesFailed) as caught:
                        await service.asearch("x")
                    chinese = caught.value.to_dict(Language.CHINESE)
                    assert "没有开启 JSON 接口" in chinese["message"]
                    assert "search.formats" in chinese["fix"]
                    assert chinese["commands"][0].startswith("qiusuo doctor --fix")
                    assert "JSON API is off" in caught.value.message
