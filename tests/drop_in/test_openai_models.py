"""``/v1`` with several models behind it: each is listed and used by its name, and the second answers for the first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest
from openai import OpenAI

from tests.support.openai_world import ENGLISH, Served, serving, user
from tests.support.scripted_model import Call, Reply, ScriptedModel, Step


@contextmanager
def served_with(*script: Step, **settings: Any) -> Iterator[tuple[Served, ScriptedModel]]:
    with ScriptedModel(otherwise=Reply.text("From the other.")) as other:
        table = {"model": "compatible:x", "base_url": other.base_url, "api_key": other.key, "context": 8192}
        with serving(*script, models={"cheap": table}, **settings) as served:
            yield served, other


def test_models_are_listed_and_used_by_their_names() -> None:
    with served_with(Reply.text("From the first.")) as (served, other), OpenAI(**served.options) as client:
        listed = [model.id for model in client.models.list()]
        assert listed == ["qiusuo-chat", "qiusuo-agent", "cheap"]
        assert client.models.retrieve("cheap").id == "cheap"
        answer = client.chat.completions.create(model="cheap", messages=user(ENGLISH))
        assert answer.model == "cheap"
        assert (answer.choices[0].message.content or "").startswith("From the other.")
        assert served.searches == 1
        assert served.model.requests == []
        first = client.chat.completions.create(model="qiusuo-chat", messages=user(ENGLISH))
        assert (first.choices[0].message.content or "").startswith("From the first.")
        assert len(other.requests) == 1
        assert client.responses.create(model="cheap", input=ENGLISH).output_text.startswith("From the other.")


def test_the_agent_takes_a_model_by_its_name_too() -> None:
    with served_with() as (served, other):
        other.add(Reply.tools(Call("web_search", {"query": "tea"})))
        answer = served.ask(user(ENGLISH), model="qiusuo-agent:cheap")
        assert answer["choices"][0]["message"]["content"].startswith("From the other.")
        assert "web_search" in other.requests[0].tools


@pytest.mark.parametrize("name", ["dear", "qiusuo-chat:dear", "cheap:qiusuo-chat", ""])
def test_a_name_that_there_is_not_is_refused(name: str) -> None:
    with served_with() as (served, other), OpenAI(**served.options) as client:
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model=name, messages=user(ENGLISH))
        assert other.requests == []


def test_the_second_answers_and_the_client_is_told() -> None:
    with served_with(Reply.error(402, "Insufficient Balance"), second_model="cheap") as (served, _):
        answer = served.ask(user(ENGLISH))
        assert answer["choices"][0]["message"]["content"].startswith("From the other.")
        assert [one["code"] for one in answer["qiusuo"]["notices"]] == ["second_model"]


def test_if_both_fail_both_reasons_are_in_the_error() -> None:
    with served_with(Reply.error(402, "Insufficient Balance"), second_model="cheap") as (served, other):
        other.add(Reply.rate_limited("60"))
        error = served.post(user(ENGLISH)).json()["error"]
    assert error["code"] == "model_rate_limited"
    assert "Scripted: The model's credit is used up" in error["message"]
    assert "OpenAI-compatible · x: The model's provider asks us to slow down" in error["message"]
