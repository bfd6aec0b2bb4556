"""The page while its server is stopped and started again."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.support.page_world import with_own_browser
from tests.support.redis_process import RedisProcess, redis, with_redis
from tests.support.scripted_model import Gate, Reply, ScriptedModel
from tests.support.server_process import ServerProcess, server_process

__all__ = ["redis"]  # a fixture
pytestmark = with_own_browser(__name__)

LENGTHS = """() => {
  window.lengths = [];
  const note = () => window.lengths.push((document.querySelector("article.turn .answer")?.textContent ?? "").length);
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""


def test_an_answer_that_a_shutdown_breaks_off_can_be_asked_again(chromium: Browser, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/chat.db"
    page = chromium.new_context(locale="zh-CN").new_page()
    with ScriptedModel(Reply.hang("开头"), otherwise=Reply.text("全部。")) as model:
        with server_process(model, database) as server:
            page.goto(str(server.client.base_url))
            page.locator("#question").fill("你好")
            page.locator("#question").press("Enter")
            turn = page.locator("article.turn").last
            expect(turn).to_contain_text("开头")
            server.process.send_signal(signal.SIGTERM)
            expect(turn.locator(".notice")).to_contain_text("回答因服务器停止而中断")
            expect(turn.locator(".notice")).to_contain_text("已写出的部分保留了下来")
            expect(turn.locator(".answer")).to_have_text("开头")
            expect(turn.get_by_text("已停止", exact=True)).to_have_count(0)
            server.process.wait(20)
            port = server.client.base_url.port or 0
        with server_process(model, database, port=port):
            page.get_by_role("button", name="重试").click()
            expect(turn.locator(".answer")).to_have_text("全部。")
            page.reload()
            expect(page.locator("article.turn")).to_have_count(1)
    page.context.close()


def test_a_turn_of_a_killed_server_is_shown_as_broken_off(chromium: Browser, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/chat.db"
    page = chromium.new_context(locale="zh-CN").new_page()
    with ScriptedModel(Reply.text("第一个回答"), Reply.hang("开头"), otherwise=Reply.text("全部。")) as model:
        with server_process(model, database) as server:
            page.goto(str(server.client.base_url))
            turn = page.locator("article.turn").last
            for question, answer in (("先问一个", "第一个回答"), ("再问一个", "开头")):
                page.locator("#question").fill(question)
                page.locator("#question").press("Enter")
                expect(turn).to_contain_text(answer)
            server.process.kill()
            server.process.wait()
            expect(page.get_by_text("连接断开，正在重新连接…")).to_be_visible()
            port = server.client.base_url.port or 0
        with server_process(model, database, port=port):
            expect(turn.locator(".notice")).to_contain_text("回答完成之前，服务器重启或已停止", timeout=15_000)
            expect(page.locator("article.turn").first.locator(".answer")).to_have_text("第一个回答")
            expect(page.locator(".lost")).to_have_count(0)
            turn.get_by_role("button", name="重试").click()
            expect(turn.locator(".answer")).to_have_text("全部。")
            expect(page.locator("article.turn")).to_have_count(2)
    page.context.close()


class Balancer:
    """Takes connections on a port of its own and passes them on to one server, or another if that is gone."""

    def __init__(self, *servers: ServerProcess) -> None:
        self._ports = [each.client.base_url.port or 0 for each in servers]
        self._open: set[asyncio.StreamWriter] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def prefer_the_other(self) -> None:
        """Pass on to the other server from now on; connections that a browser has kept are closed."""
        self._ports.reverse()
        assert self._loop is not None
        for writer in list(self._open):
            self._loop.call_soon_threadsafe(writer.close)

    @contextmanager
    def serving(self) -> Iterator[str]:
        ready, told = threading.Event(), threading.Event()
        ports: list[int] = []

        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            async with await asyncio.start_server(self._pass_on, "127.0.0.1", 0) as server:
                ports.append(server.sockets[0].getsockname()[1])
                ready.set()
                await asyncio.to_thread(told.wait)
                server.close()

        thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
        thread.start()
        assert ready.wait(10)
        yield f"http://127.0.0.1:{ports[0]}"
        told.set()
        thread.join(10)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for port in self._ports:
            with suppress(OSError):
                there = await asyncio.open_connection("127.0.0.1", port)
                break
        else:
            writer.close()
            return
        self._open.add(writer)
        await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))
        self._open.discard(writer)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@with_redis[0]
def test_an_answer_goes_on_at_another_server_and_is_kept_when_its_own_is_gone(
    chromium: Browser, tmp_path: Path, redis: RedisProcess
) -> None:
    database, gate = f"sqlite:///{tmp_path}/chat.db", Gate()
    page = chromium.new_context(locale="zh-CN").new_page()
    with (
        ScriptedModel(Reply.text("第一句。", gate, "第二句。", Gate())) as model,
        server_process(model, database, QIUSUO_REDIS_URL=redis.url) as first,
        server_process(model, database, QIUSUO_REDIS_URL=redis.url) as second,
    ):
        balancer = Balancer(first, second)
        with balancer.serving() as address:
            page.goto(address)
            page.locator("#question").fill("你好")
            page.locator("#question").press("Enter")
            turn = page.locator("article.turn").last
            expect(turn.locator(".answer")).to_have_text("第一句。", timeout=30_000)
            balancer.prefer_the_other()
            page.reload()
            expect(turn.locator(".answer")).to_have_text("第一句。", timeout=15_000)
            page.evaluate(LENGTHS)
            gate.open()
            expect(turn.locator(".answer")).to_have_text("第一句。第二句。", timeout=15_000)
            first.process.kill()
            first.process.wait()
            expect(turn.locator(".notice")).to_contain_text("回答完成之前，服务器重启或已停止", timeout=15_000)
            expect(turn.locator(".answer")).to_have_text("第一句。第二句。")
            expect(turn.get_by_role("button", name="重试")).to_be_visible()
            lengths = page.evaluate("window.lengths")
            assert lengths == sorted(lengths), "it was never taken away"
            page.context.close()
