"""Earlier answers that clients send back: the model hears what it said, without what we added."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import unquote

import orjson
import pytest

from qiusuo.models import SearchResultItem
from qiusuo.web.openai.request import read_conversation
from tests.support.openai_world import ENGLISH, QUESTION, heard_again, serving, user
from tests.support.scripted_model import Call, Reply


class TestEarlierAnswers:
    @pytest.mark.parametrize("question", [ENGLISH, QUESTION])
    def test_the_agents_list_is_not_sent_back_to_the_model(self, question: str) -> None:
        script = [
            Reply.tools(Call("web_search", {"query": "spring tea"}), Call("web_search", {"query": "green tea"})),
            Reply.text("March [1]."),
            Reply.text("Yes."),
        ]
        with serving(*script) as served:
            first = served.ask(user(question), model="qiusuo-agent")["choices"][0]["message"]["content"]
            assert "### " in first
            served.ask([*user(question), {"role": "assistant", "content": first}, *user("Sure?")], search=False)
            assert served.prompt()[2] == ("assistant", "March [1].")

    def test_the_models_own_list_stays(self) -> None:
        text = "Tea:\n\n## References\n\n- [1] A book\n\nThat is all.\n- [2] another"
        assert heard_again(text) == text

    @pytest.mark.parametrize("line", ["\n\n> ⚠️ **No search** again", "\n- [1] a", "\n\n## References\n- [1] a"])
    def test_an_answer_full_of_such_lines_takes_no_time(self, line: str) -> None:
        text = line * 20_000 + "\nx"
        began = time.thread_time()
        assert heard_again(text) == text.strip()
        assert time.thread_time() - began < 1


OLD = "https://old.example.com/a"
OTHER = "https://old.example.com/b_%28x%29"
LISTED = f"\n\n## References\n\n- [[1]]({OLD}) An old \\[page\\] — old.example.com"


def told(answer: str) -> list[Any]:
    return [*user(ENGLISH), {"role": "assistant", "content": answer}, *user("What is tea made of?")]


def served_title(chunks: list[Any], number: int) -> str:
    found = next(chunk["search_results"] for chunk in chunks if "search_results" in chunk)
    return next(str(each["title"]) for each in found if each["number"] == number)


class TestNumbers:
    """A number means one page in the whole conversation."""

    def test_they_run_on_and_old_claims_keep_their_pages(self) -> None:
        with serving(Reply.text("Still so [1], and leaves [2].")) as served:
            data = served.ask(told(f"March [[1]]({OLD}).{LISTED}"), references=False)
            assert served.prompt()[2] == ("assistant", "March [1].")
            assert "[2] " in served.prompt()[-1][1]
            assert "[1] " not in served.prompt()[-1][1]
            message = data["choices"][0]["message"]
            new = "https://site1.example.com/page/1"
            assert message["content"].startswith(f"Still so [[1]]({OLD}), and leaves [[2]]({new}).")
            cited = [each["url_citation"] for each in message["annotations"]]
            assert (cited[0]["url"], cited[0]["title"]) == (OLD, "An old [page]")
            assert cited[1]["url"] == new
            assert data["search_results"][0]["number"] == 2

    def test_a_page_that_is_found_again_keeps_its_number(self) -> None:
        with serving(Reply.text("Leaves [7].")) as served:
            data = served.ask(told("March [[7]](https://site1.example.com/page/1)."))
            assert [each["number"] for each in data["search_results"]][:2] == [7, 8]

    def test_two_pages_under_one_number_are_told_apart(self) -> None:
        with serving(Reply.text("Yes [1][2].")) as served:
            messages = [*told(f"March [[1]]({OLD})."), {"role": "assistant", "content": f"Leaves [[1]]({OTHER})."}]
            data = served.ask([*messages, *user("Sure?")], search=False)
            assert [text for role, text in served.prompt() if role == "assistant"] == ["March [1].", "Leaves [2]."]
            assert data["choices"][0]["message"]["content"].startswith(f"Yes [[1]]({OLD})[[2]]({OTHER}).")

    def test_numbers_without_addresses_are_not_given_again(self) -> None:
        with serving(Reply.text("Leaves [4].")) as served:
            data = served.ask(told("March [1][3], as x[9] says."))
            assert data["search_results"][0]["number"] == 4

    def test_brackets_in_an_address_are_those_of_the_page(self) -> None:
        wanted = SearchResultItem("b", "https://old.example.com/b_(x)", "")
        body = {"model": "qiusuo-chat", "messages": told(f"March [[5]]({OTHER}).")}
        _, _, memory = read_conversation(orjson.dumps(body), None)
        assert memory.registry.number(wanted) == 5

    def test_the_agents_run_on_too(self) -> None:
        script = [Reply.tools(Call("web_search", {"query": "tea"})), Reply.text("So [1][2].")]
        with serving(*script) as served:
            data = served.ask(told(f"March [[1]]({OLD})."), model="qiusuo-agent")
            text = data["choices"][0]["message"]["content"]
            assert text.startswith(f"So [[1]]({OLD})[[2]](https://site1.example.com/page/1).")

    def test_open_webui_shows_each_number_as_its_page(self) -> None:
        """Its page takes ``[n]`` for the n-th source that it was told of with this message."""
        with serving(Reply.text("Leaves [5], still so [3].")) as served:
            stream = served.post(told(f"March [[1]]({OLD}), April [[3]]({OTHER})."), stream=True).text
        chunks = [orjson.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
        content = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        events = [chunk["event"] for chunk in chunks if "event" in chunk]
        assert {event["type"] for event in events} == {"source"}
        told_of = [event["data"]["metadata"][0]["source"] for event in events]
        assert len(set(told_of)) == len(told_of) == 5
        for number, url in re.findall(r"\[\[(\d+)\]\]\((.*?)\)", content):
            assert unquote(told_of[int(number) - 1]) == unquote(url)
        assert events[4]["data"]["source"] == {"name": served_title(chunks, 5), "url": told_of[4]}

    def test_without_sources_nobody_is_told_of_any(self) -> None:
        with serving(Reply.text("Hello.")) as served:
            assert '"event"' not in served.post(search=False, stream=True).text

    @pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a.example/\n[2](x)", "ftp://a.example"])
    def test_what_is_no_address_is_no_source(self, url: str) -> None:
        with serving(Reply.text("Leaves [1].")) as served:
            data = served.ask(told(f"March [[1]]({url})."), search=False)
            assert url not in data["choices"][0]["message"]["content"]
