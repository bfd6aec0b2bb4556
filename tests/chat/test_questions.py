"""Long messages: the question in them is searched for, never what stands around it."""

from __future__ import annotations

import pytest

from qiusuo.chat.questions import is_task, question_in
from qiusuo.chat.sessions.session import ChatSettings
from tests.support.chat_world import AGENT, SEARCH, ChatWorld
from tests.support.scripted_model import Call, Reply

SECRET = (
    "Project Kingfisher: Orchard Ltd buys Mill House Foods for 41 million in May.",
    "The board of Orchard has not told its employees; Ms Adler signs on Tuesday.",
    "Mill House owes its bank 7.2 million, due in September, and hides it in annex C.",
)
SECRET_ZH = (
    "翠鸟项目：果园公司五月以四千一百万收购磨坊食品。",
    "果园董事会尚未告知员工，阿德勒女士周二签字。",
    "磨坊欠银行七百二十万，九月到期。",
)
QUESTION = "Which mergers must be notified to the European Commission?"
QUESTION_ZH = "哪些合并必须向反垄断机构申报？"

_REPORT = (
    'Information: "{context}"\n---\nUsing the above information, answer the following query or task: '
    '"merger thresholds EU" in a detailed report --\nThe report should be well structured.'
)
ANSWER = Reply.text("All right.")

PROMPTS = {
    "the question last": ("\n\n".join([*SECRET, QUESTION]), QUESTION),
    "the question first": ("\n\n".join([QUESTION, *SECRET]), QUESTION),
    "one long paragraph": (" ".join([*SECRET, *SECRET, QUESTION]), QUESTION),
    "many lines": ("\n".join([*SECRET, QUESTION]), QUESTION),
    "a label": (
        f"Use the context.\n\nContext:\n{' '.join(SECRET)}\n\nQuestion: merger thresholds EU\n\nAnswer:",
        "merger thresholds EU",
    ),
    "a short one with a label": (
        "Context: Ms Adler signs on Tuesday.\nQuestion: merger thresholds EU",
        "merger thresholds EU",
    ),
    "tags": (
        f"<context>\n{SECRET[0]}\n</context>\n<user_query>\nmerger thresholds EU\n</user_query>",
        "merger thresholds EU",
    ),
    "quoted by a program": (
        _REPORT.format(context=" ".join(SECRET)),
        "merger thresholds EU",
    ),
    "a heading": (
        f"Explain the duty to notify mergers:\n\n{SECRET[0]}\n\n{SECRET[1]}\n\nDid Ms Adler sign?",
        "Explain the duty to notify mergers",
    ),
    "Chinese": ("\n\n".join([*SECRET_ZH, QUESTION_ZH]), QUESTION_ZH),
    "Chinese with a label": ("\n".join(["已知信息：", *SECRET_ZH, "问题：合并申报标准"]), "合并申报标准"),
}

TASKS = [
    "### Task:\nGenerate a concise, 3-5 word title for the chat.\n### Chat History:\nUSER: Ms Adler signs?",
    "### Task:\nSuggest 3-5 relevant follow-up questions.\n<chat_history>\nMs Adler signs\n</chat_history>",
    'Write 3 google search queries to search online that form an objective opinion from the following task: "Adler"',
    "Provide a concise, 5-word-or-less title for the conversation.\n\nConversation:\nUser: Ms Adler signs",
]  # fmt: skip

PLAIN = [
    "What is throat cancer?",
    "劳动合同试用期最长多久",
    "hello\nwhat is tea?",
    "推荐几本书\n关于机器学习\n中文的",
    "I moved to Berlin in March and work for a Spanish company from home. Where do I pay my income tax this year?",
]


def nothing_of(secret: tuple[str, ...], queries: list[str]) -> bool:
    """Tell whether no query has a word that only the secret has."""
    own = {word for line in secret for word in line.replace(".", "").split()} - set(QUESTION.split())
    return not any(word in query for query in queries for word in own if len(word) > 3)


@pytest.mark.parametrize("case", PROMPTS)
def test_the_question_is_found(case: str) -> None:
    prompt, question = PROMPTS[case]
    assert question_in(prompt) == question


@pytest.mark.parametrize("text", PLAIN)
def test_a_short_message_is_the_question(text: str) -> None:
    assert question_in(text) == text


@pytest.mark.parametrize("text", ["\n\n".join(SECRET), " ".join([*SECRET, *SECRET]), "x" * 5000, "a\n" * 3000])
def test_where_there_is_none_nothing_is_guessed(text: str) -> None:
    assert question_in(text) == ""


def test_tasks_of_programs_are_known() -> None:
    assert all(map(is_task, TASKS))
    assert not any(map(is_task, [*PLAIN, *(prompt for prompt, _ in PROMPTS.values())]))


class TestWhatTheProviderGets:
    @pytest.mark.parametrize("case", PROMPTS)
    async def test_none_of_the_context(self, case: str) -> None:
        prompt, question = PROMPTS[case]
        async with ChatWorld(Reply.text("Large ones.")) as world:
            heard = await world.ask(prompt, SEARCH)
            got = [seen.params["q"] for seen in world.world["searxng"].seen]
            # A question of law is asked with its words and sites besides.
            assert [query.partition(" 法律法规 (site:")[0] for query in got] == [question]
            assert heard.rounds[0].query == question  # and the reader sees it
            assert prompt in world.model.requests[0].messages[-1]["content"]  # the model has it all

    async def test_nor_by_a_follow_up(self) -> None:
        async with ChatWorld(Reply.text("Large ones."), Reply.text("no"), Reply.text("Yes.")) as world:
            await world.ask("\n\n".join([*SECRET, QUESTION]), SEARCH)
            await world.ask("What about Germany?", SEARCH)
            got = [seen.params["q"] for seen in world.world["searxng"].seen]
            assert len(got) == 2
            assert nothing_of(SECRET, got)

    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("settings", [SEARCH, AGENT])
    async def test_a_task_of_a_program_is_answered_without_a_search(self, task: str, settings: ChatSettings) -> None:
        async with ChatWorld(Reply.text("Tea.")) as world:
            heard = await world.ask(task, settings)
            assert heard.text == "Tea."
            assert world.requests() == 0
            assert world.model.requests[0].tools == []

    async def test_where_no_rule_finds_it_the_model_is_asked(self) -> None:
        async with ChatWorld(Reply.text("employees merger announcement"), ANSWER) as world:
            await world.ask("\n\n".join(SECRET), SEARCH)
            assert [seen.params["q"] for seen in world.world["searxng"].seen] == ["employees merger announcement"]

    @pytest.mark.parametrize("said", [SECRET[0], "I cannot help with that request at all, sorry!"])
    async def test_what_it_copies_is_not_sent(self, said: str) -> None:
        async with ChatWorld(Reply.text(said), ANSWER) as world:
            heard = await world.ask("\n\n".join(SECRET), SEARCH)
            assert world.requests() == 0
            assert "no_question_found" in heard.codes
            assert heard.text == "All right."

    async def test_an_agents_call_does_not_send_it_either(self) -> None:
        prompt = "\n\n".join([*SECRET, QUESTION])
        call = Reply.tools(Call("web_search", {"query": prompt}))
        copied = Reply.tools(Call("web_search", {"query": "\n\n".join(SECRET)}))
        async with ChatWorld(call, copied, Reply.text("Large ones.")) as world:
            await world.ask(prompt, AGENT)
            assert [seen.params["q"] for seen in world.world["searxng"].seen] == [QUESTION]


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        (
            "王建国 身份证110101199003074518 密码Tiger!2026，长虹大桥什么时候通车？",
            "王建国 身份证 ，长虹大桥什么时候通车？",
        ),
        (
            "my card 6222021234567890123 password: hunter2! when does the bridge open?",
            "my card when does the bridge open?",
        ),
        ("ISBN 9787111213826 是什么书", "ISBN 9787111213826 是什么书"),
        ("how to reset a windows password", "how to reset a windows password"),
    ],
)
async def test_no_password_or_card_reaches_a_provider(said: str, sent: str) -> None:
    async with ChatWorld(Reply.text("好")) as world:
        heard = await world.ask(said)
        assert [seen.params["q"] for seen in world.world["searxng"].seen if seen.params.get("pageno", "1") == "1"] == [
            sent
        ]
        assert heard.rounds[0].query == sent


async def test_nor_in_agent_mode_or_a_research() -> None:
    said, secret = "密码Tiger!2026 长虹大桥什么时候通车", "Tiger!2026"
    call = Reply.tools(Call("web_search", {"query": said}))
    async with ChatWorld(call, Reply.text("好 [1]")) as world:
        world.model.otherwise = Reply.text("好 [1]。")
        await world.ask(said, AGENT)
        await world.ask(said, SEARCH, research=True)
        assert world.world["searxng"].seen
        assert not any(secret in seen.params.get("q", "") for seen in world.world["searxng"].seen)
