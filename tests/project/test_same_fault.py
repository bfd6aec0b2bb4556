"""One table: a fault of SearXNG has the same name, the same words and the same commands wherever somebody meets it.

The faults are real ones on loopback; each is met by a program, the command line, the chat in the terminal, the REST
interface, the page, other people's programs, the health of a server and the doctor, in Chinese and in English.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from qiusuo.chat.models.opening import open_model
from qiusuo.chat.stores.opening import open_store
from qiusuo.cli.app import app
from qiusuo.config import Settings
from qiusuo.errors import AllEnginesFailed
from qiusuo.kit.commands import free_port
from qiusuo.kit.docker import docker_may_run
from qiusuo.kit.files import DEFAULT_PORT
from qiusuo.service import SearchService
from qiusuo.testing import Answer, Fault, ProviderServer
from qiusuo.testing import Seen as Request
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.mcp.routes import mcp_extension
from qiusuo.web.openai.routes import openai_extension
from qiusuo.words import Language
from qiusuo.words.catalogue import Part, template
from tests.support.chat_world import scripted
from tests.support.doctor_support import Canned
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.web_server import WebServer

QUESTION = "茶 tea"
QUESTIONS = {
    Language.CHINESE: "云南的春茶什么时候采摘？",
    Language.TRADITIONAL: "雲南的春茶什麼時候採摘？",
    Language.ENGLISH: "When is spring tea harvested?",
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
NO_DOCKER = "" if shutil.which("docker") and docker_may_run(os.environ) else " --no-docker"


class Cinema(Canned):
    """A website; what SearXNG has elsewhere is not there."""

    def __init__(self) -> None:
        super().__init__(Answer("<!doctype html><title>Films</title><h1>Welcome</h1>"))

    def answer(self, seen: Request) -> Answer:
        absent = Answer("<!doctype html><title>Not here</title>", 404)
        return super().answer(seen) if seen.path == "/search" else absent


@contextmanager
def json_off() -> Iterator[str]:
    provider = Searxng()
    provider.json_on = False
    with ProviderServer(provider) as server:
        yield server.url


@contextmanager
def nobody() -> Iterator[str]:
    with socket.socket() as taken:  # bound, so that nobody else takes the port; not listening
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@contextmanager
def another_program() -> Iterator[str]:
    with ProviderServer(Cinema()) as server:
        yield server.url


@contextmanager
def no_such_host() -> Iterator[str]:
    yield "http://searxng.invalid:8080"


@contextmanager
def hanging() -> Iterator[str]:
    with ProviderServer(Searxng()) as server:
        server.fault = Fault.HANG
        yield server.url


@dataclass(frozen=True)
class Row:
    """A fault: how it comes about, its code, and the commands for it.

    ``{url}`` is the address of SearXNG, ``{free}`` a port that it can have instead; ``seen`` is told of what is there.
    """

    happens: Callable[[], Any]
    code: str
    commands: tuple[str, ...]
    seen: str = ""


TABLE = {
    "JSON off": Row(
        json_off,
        "searxng.json_off",
        ("qiusuo doctor --fix",),
    ),
    "refused": Row(nobody, "searxng.refused", ("qiusuo searxng init --port {port}", f"qiusuo searxng up{NO_DOCKER}")),
    "another program": Row(
        another_program,
        "searxng.other_service",
        ("qiusuo searxng init{option}", f"qiusuo searxng up{NO_DOCKER}", "export SEARXNG_URL=http://localhost:{free}"),
        "“Films”",
    ),
    "no such host": Row(no_such_host, "searxng.dns", ("export SEARXNG_URL=http://localhost:8080",)),
    "no answer": Row(hanging, "searxng.timeout", ()),
}


@dataclass(frozen=True)
class Seen:
    """What somebody has met: all words, the commands, and the code where the surface gives one."""

    text: str
    commands: tuple[str, ...]
    code: str | None = None


def by_a_program(language: Language) -> Seen:
    with SearchService.from_settings() as service, pytest.raises(AllEnginesFailed) as caught:
        service.search(QUESTION)
    [attempt] = caught.value.attempts
    assert attempt.fact is not None
    assert caught.value.commands == attempt.commands
    return Seen("\n".join(caught.value.wording(language)), attempt.commands, attempt.fact.code)


def on_the_command_line(_language: Language) -> Seen:
    result = CliRunner().invoke(app, ["search", QUESTION])
    assert result.exit_code == 4
    return Seen(result.output, shown_commands(result.output))


def in_the_terminal_chat(_language: Language) -> Seen:
    with ScriptedModel(Reply.text("Tea is hot.")) as model, pytest.MonkeyPatch.context() as patch:
        patch.setenv("QIUSUO_MODEL", "openai:scripted")
        patch.setenv("QIUSUO_MODEL_BASE_URL", model.base_url)
        patch.setenv("QIUSUO_MODEL_API_KEY", model.key)
        result = CliRunner().invoke(app, ["chat", "--search", "--no-save", QUESTION])
    assert result.exit_code == 0, result.output
    assert "Tea is hot." in result.output
    return Seen(result.output, shown_commands(result.output))


def over_rest(language: Language) -> Seen:
    with WebServer(SearchService.from_settings()) as server:
        headers = {"Accept-Language": language.value}
        data = server.client.post("/api/search", json={"query": QUESTION}, headers=headers).json()
    [attempt] = data["attempts"]
    return Seen(f"{attempt['reason']}\n{attempt['fix']}", tuple(attempt.get("commands", ())), attempt["code"])


def on_the_page(language: Language) -> Seen:
    with ScriptedModel(Reply.text("Tea is hot.")) as model:
        extension = chat_extension(scripted(model), open_store("sqlite://"))
        with WebServer(SearchService.from_settings(), extensions=[extension]) as server:
            client, headers = server.client, {"Accept-Language": language.value}
            session = client.post("/api/chat/sessions", json={"settings": {"search": True}}).json()["id"]
            path, body = f"/api/chat/sessions/{session}/turns", {"text": QUESTION}
            answer = client.post(path, json=body, headers=headers)
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    [notice] = [event for event in events if event["type"] == "notice"]
    words = (notice["title"], notice["message"], notice["fix"])
    return Seen("\n".join(words), tuple(notice["commands"]))


def as_a_model_of_other_programs(language: Language) -> Seen:
    """Most of these show the text and nothing else. Without a model: nothing but the failure is told."""
    chat = chat_extension(open_model(Settings.load(model="extractive")), open_store("sqlite://"))
    # These are answered in the language of the question.
    body = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": QUESTIONS[language]}]}
    with WebServer(SearchService.from_settings(), extensions=[chat, openai_extension]) as server:
        data = server.client.post("/v1/chat/completions", json=body).json()
    [notice] = data["qiusuo"]["notices"]
    [line] = re.findall(r"^> ⚠️ .*$", data["choices"][0]["message"]["content"], re.MULTILINE)
    commands = tuple(re.findall(r" `(.+?)`", line))
    assert commands == tuple(notice["commands"])
    return Seen(line, commands)


def as_a_tool(language: Language) -> Seen:
    call = {"name": "web_search", "arguments": {"query": "tea"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accepted = {"Accept": "application/json, text/event-stream", "Accept-Language": language.value}
    with WebServer(SearchService.from_settings(), extensions=[mcp_extension]) as server:
        opened = server.client.post("/mcp", json=INITIALIZE, headers=accepted)
        headers = {**accepted, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
        answer = server.client.post("/mcp", json=body, headers=headers)
    heard = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    result = heard[-1]["result"]
    [attempt] = result["structuredContent"]["attempts"]
    text = result["content"][0]["text"]
    commands = shown_commands(text)
    assert list(commands) == result["structuredContent"].get("commands", [])
    return Seen(text, commands, attempt["code"])


def in_the_health_of_the_server(language: Language) -> Seen:
    with WebServer(SearchService.from_settings()) as server:
        server.client.post("/api/search", json={"query": QUESTION})
        # The first look asks the engine anew, the second tells what that has shown.
        looks = [server.client.get("/api/health", headers={"Accept-Language": language.value}).json() for _ in range(2)]
    told: dict[str, str] = {}
    for look in looks:
        [problem] = look["problems"]
        [finding] = [each for each in look["findings"] if each["check"] == "searxng"]
        assert {problem["code"], finding["code"]} == {look["attempts"]["searxng"]["code"]}
        assert problem["commands"] == finding["commands"]
        told |= {problem["message"]: problem["fix"], finding["what"]: finding["fix"]}
    assert len({re.sub(r"[\d.]+", "", what) for what in told}) == 1, told
    return Seen("\n".join((*told, *told.values())), tuple(problem["commands"]), problem["code"])


def by_the_doctor(_language: Language) -> Seen:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 3
    found = json.loads(result.stdout)["findings"]
    [finding] = [each for each in found if each["check"] == "searxng"]
    return Seen(f"{finding['what']}\n{finding['fix']}", tuple(finding["commands"]), finding["code"])


SURFACES = (
    by_a_program,
    on_the_command_line,
    in_the_terminal_chat,
    over_rest,
    on_the_page,
    as_a_model_of_other_programs,
    as_a_tool,
    in_the_health_of_the_server,
    by_the_doctor,
)


@pytest.fixture(params=TABLE)
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[Row, str]]:
    """Make a fault happen in a set-up in which SearXNG is the one engine."""
    row = TABLE[request.param]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "searxng")
    monkeypatch.setenv("SEARCH_TIMEOUT", "0.3" if row.happens is hanging else "1")
    with row.happens() as url:
        monkeypatch.setenv("SEARXNG_URL", url)
        yield row, url


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("surface", SURFACES)
def test_a_fault_has_one_name_everywhere(
    fault: tuple[Row, str], surface: Callable[[Language], Seen], language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, url = fault
    monkeypatch.setenv("QIUSUO_LANG", language.value)
    seen = surface(language)
    text = re.sub(r"\s+", " ", seen.text)
    for part in (Part.WHAT, Part.FIX):
        assert re.search(as_pattern(template(row.code, language, part), url), text), (part, seen.text)
    other = next(each for each in Language if each is not language)
    assert not re.search(as_pattern(template(row.code, other), url), text)
    assert row.seen in text
    port, free = urlsplit(url).port, free_port(urlsplit(url).port)
    values = {"url": url, "port": port, "free": free, "option": "" if free == DEFAULT_PORT else f" --port {free}"}
    assert seen.commands == tuple(command.format(**values) for command in row.commands)
    assert seen.code in {row.code, None}


def as_pattern(sentence: str, url: str) -> str:
    """Return the pattern of a sentence whose address is known and whose other values are not."""
    pieces = re.split(r"(\{\w+\})", re.sub(r"\s+", " ", sentence))
    return "".join(
        re.escape(url) if each == "{address}" else ".+?" if each[:1] == "{" else re.escape(each) for each in pieces
    )


def shown_commands(output: str) -> tuple[str, ...]:
    """Return the commands that stand on a screen."""
    return tuple(re.findall(r"^\s*\$ (.+?)\s*$", output, re.MULTILINE))
