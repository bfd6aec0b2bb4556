"""Follow-up questions in English."""

from __future__ import annotations

import pytest

from qiusuo.chat.followups import Exchange, leans_on_what_was_said, resolve
from tests.support.followups import understood


def asked(*questions: str) -> list[Exchange]:
    return [Exchange(question) for question in questions]


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        # a pronoun stands for the topic
        ("What is throat cancer?", "Is it treatable?", "Is throat cancer treatable?"),
        ("What is throat cancer?", "What are its symptoms?", "What are throat cancer's symptoms?"),
        ("How tall is the Eiffel Tower?", "How old is it?", "How old is the Eiffel Tower?"),
        ("Who wrote Hamlet?", "When was it written?", "When was Hamlet written?"),
        ("What is a heat pump?", "How do they work?", "How do heat pumps work?"),
        ("Best restaurants in Rome", "How much do they cost?", "How much do restaurants in Rome cost?"),
        ("What is the European Central Bank?", "Who leads the Bank?", "Who leads the European Central Bank?"),
        # it is left out
        ("What is throat cancer?", "what are the symptoms?", "what are the symptoms of throat cancer?"),
        ("What is the capital of France?", "population?", "population of France?"),
        ("python list vs tuple", "which is faster?", "which is faster, python list vs tuple?"),
        ("weather in Paris", "will it rain tomorrow?", "will it rain tomorrow, Paris?"),
        ("weather in Paris", "tomorrow?", "weather in Paris, tomorrow"),
        ("What is the GDP of China", "compared to India?", "GDP of China compared to India?"),
        # something in the place of something
        ("How tall is the Eiffel Tower?", "and the Burj Khalifa?", "How tall is the Burj Khalifa?"),
        ("What is the minimum wage in France?", "and in Germany?", "What is the minimum wage in Germany?"),
        ("What is the minimum wage in France?", "what about Germany?", "What is the minimum wage in Germany?"),
        ("What is the minimum wage in France in 2023?", "and 2024?", "What is the minimum wage in France in 2024?"),
        ("Who won the 2018 World Cup?", "and 2022?", "Who won the 2022 World Cup?"),
        ("Is coffee bad for you?", "what about tea?", "Is tea bad for you?"),
        ("Tesla Model 3 price", "and the Model Y?", "Tesla Model Y price"),
        (
            "What does Article 577 of the Civil Code say?",
            "and Article 584?",
            "What does Article 584 of the Civil Code say?",
        ),
        ("How do I install Docker on Ubuntu?", "and on Mac?", "How do I install Docker on Mac?"),
        ("What is the GDP of China?", "in 2020?", "What is the GDP of China in 2020?"),
        ("Explain quantum computing", "in simple terms", "Explain quantum computing in simple terms"),
        ("What is throat cancer?", "What about children?", "What is throat cancer, children?"),
        ("What is throat cancer?", "no, I meant lung cancer", "What is lung cancer?"),
        # the same again
        ("Is coffee bad for you?", "Why?", "Why? Is coffee bad for you?"),
        ("Is coffee bad for you?", "why is that?", "why is that? Is coffee bad for you?"),
        ("Is coffee bad for you?", "What else?", "Is coffee bad for you?"),
        ("Is coffee bad for you?", "Tell me more.", "Is coffee bad for you?"),
    ],
)
def test_a_follow_up_carries_what_the_conversation_is_about(before: str, question: str, query: str) -> None:
    resolved = resolve(question, asked(before))
    assert resolved.query == query
    assert resolved.changed
    assert leans_on_what_was_said(question, asked(before))


@pytest.mark.parametrize(
    "question",
    [
        "Tell me about lung cancer.",
        "What is kimchi and where is it from?",
        "Who were the Etruscans?",
        "How does photosynthesis work?",
        "What is the population of Brazil?",
        "What are the different types of bridges?",
        "Is there a bridge over the Bosporus?",
        "Elasticsearch",
        "how to boil eggs",
        "in vitro fertilisation",
        "How long does it take to fly to Tokyo?",
        "What happened in Rome this year?",
        "thanks!",
        "Thank you very much.",
        "Great, thanks!",
        "Hello",
        "",
        "   ",
        "?!",
        "__",
    ],
)
def test_a_question_that_stands_alone_is_left_as_it_was_typed(question: str) -> None:
    before = asked("What is throat cancer?", "Is it treatable?")
    resolved = resolve(question, before)
    assert (resolved.query, resolved.changed, resolved.carried) == (question, False, ())
    assert not leans_on_what_was_said(question, before)


def test_the_topic_changes_in_the_middle() -> None:
    before = asked("What is throat cancer?", "Is it treatable?", "Tell me about lung cancer.")
    resolved = resolve("What are its symptoms?", before)
    assert (resolved.query, resolved.carried) == ("What are lung cancer's symptoms?", ("lung cancer",))


@pytest.mark.parametrize(
    ("questions", "queries"),
    [
        (
            (
                "How tall is Larkfield Lighthouse?",
                "Who designed it?",
                "Why did it close to visitors?",
                "And how much does a ticket cost?",
            ),
            [
                "Who designed Larkfield Lighthouse?",
                "Why did Larkfield Lighthouse close to visitors?",
                "And how much does a ticket cost, Larkfield Lighthouse?",
            ],
        ),
        (
            ("Who directed Parasite?", "How many Oscars did it win?", "Where was it filmed?"),
            ["How many Oscars did Parasite win?", "Where was Parasite filmed?"],
        ),
        (
            ("How deep is Lake Tahoe?", "Does it freeze in winter?", "Who owns the shore?"),
            ["Does Lake Tahoe freeze in winter?", "Who owns the shore of Lake Tahoe?"],
        ),
        (
            ("What are the opening hours of the Rijksmuseum?", "How much are tickets?"),
            ["How much are tickets of the Rijksmuseum?"],
        ),
        (("How hot is the surface of the sun?", "And the core?"), ["How hot is the core of the sun?"]),
        (
            ("What is the tallest mountain in Africa?", "Has anyone skied down it?", "And in Europe?"),
            [
                "Has anyone skied down the tallest mountain in Africa?",
                "Has anyone skied down the tallest mountain in Europe?",
            ],
        ),
        (
            ("symptoms of vitamin D deficiency", "How is it diagnosed?", "Which foods help?"),
            ["How is vitamin D deficiency diagnosed?", "Which foods help, vitamin D deficiency?"],
        ),
        (("Can I bring a laptop on a plane?", "And a power bank?"), ["Can I bring a power bank on a plane?"]),
        (
            ("Who painted The Night Watch?", "When did he paint it?", "Where can I see it?"),
            ["When did he paint the Night Watch?", "Where can I see the Night Watch?"],
        ),
    ],
)
def test_what_was_asked_of_a_thing_is_not_carried_along(questions: tuple[str, ...], queries: list[str]) -> None:
    assert understood(*questions) == queries
    assert [resolve(questions[at], asked(*questions[:at])).query for at in range(1, len(questions))] == queries


@pytest.mark.parametrize(
    ("before", "query"),
    [
        ("How hot is the sun?", "How hot is the sun?"),
        ("What is the sun?", "How hot is the sun?"),
        ("Tell me about Dubai", "How hot is Dubai?"),
        ("What are sun spots?", "How hot are sun spots?"),
    ],
)
def test_how_hot_is_asked_of_the_thing(before: str, query: str) -> None:
    assert resolve("How hot?", asked(before)).query == query


def test_two_diseases_of_one_kind() -> None:
    before = asked("Is lung cancer treatable?", "And throat cancer?")
    assert resolve("And throat cancer?", before[:1]).query == "Is throat cancer treatable?"
    assert resolve("What are the symptoms?", before).query == "What are the symptoms of throat cancer?"


@pytest.mark.parametrize(
    "said",
    [
        "thanks",
        "ok",
        "Ok thank you so much",
        "great, that helps",
        "Thanks for your help!",
        "alright, bye",
        "thanks, that helps",
        "thanks, that was very helpful",
        "That was useful, thank you",
        "Thanks, that helped a lot",
        "I understand now, thanks",
    ],
)
def test_thanks_ask_nothing(said: str) -> None:
    for before in (asked("What is throat cancer?"), []):
        resolved = resolve(said, before)
        assert (resolved.query, resolved.changed, resolved.leans, resolved.asks) == (said, False, False, False)
    assert resolve("Is it treatable?", asked("What is throat cancer?")).asks


def test_thanks_in_the_middle_change_nothing() -> None:
    before = asked("Hello", "What is throat cancer?", "thanks", "hello")
    assert resolve("Is it treatable?", before).query == "Is throat cancer treatable?"


def test_what_is_understood_is_carried_on() -> None:
    before = asked("How tall is the Eiffel Tower?", "and the Burj Khalifa?")
    assert resolve("When was it built?", before).query == "When was the Burj Khalifa built?"
    assert resolve("and the Shard?", before).query == "How tall is the Shard?"
    assert resolve("Why?", asked("Is coffee bad for you?", "Why?", "Why?")).query == "Why? Is coffee bad for you?"


def test_she_and_he_are_people_that_were_asked_for() -> None:
    before = asked("Who was Marie Curie?", "What is radium?")
    assert resolve("Where was she born?", before).query.startswith("Where was Marie Curie born")
    two = asked("Who is Albert Einstein?", "Who was Niels Bohr?")
    assert resolve("Did they meet?", two).query == "Did Albert Einstein and Niels Bohr meet?"


def test_who_is_answered_by_the_answer() -> None:
    answer = (
        "**Elon Musk** has been the CEO of Tesla since 2008 [1]. He was born in Pretoria.\n\n## More\n" + "x " * 2000
    )
    resolved = resolve("How old is he?", [Exchange("Who is the CEO of Tesla?", answer)])
    assert resolved.query.startswith("How old is Elon Musk")


def test_a_long_answer_does_not_dominate() -> None:
    answer = "Throat cancer [1] is a disease. The Mayo Clinic, Johns Hopkins and Harvard treat it. " * 50
    resolved = resolve("Is it treatable?", [Exchange("What is throat cancer?", answer)])
    assert resolved.query == "Is throat cancer treatable?"


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        ("Minnewater Park is a quiet corner of Bruges.", "Are concerts held in Minnewater Park, Bruges?"),
        ("Minnewater Park is a film of 1973.", "Are concerts held in Minnewater Park?"),
    ],
)
def test_the_theme_is_kept_while_answers_come_back_to_it(answer: str, query: str) -> None:
    before = [
        Exchange("What is Bruges famous for?", "Bruges is known for its canals."),
        Exchange("What is Minnewater Park?", answer),
    ]
    assert resolve("Are concerts held there?", before).query == query


def test_what_is_carried_is_said() -> None:
    assert resolve("Is it treatable?", asked("What is throat cancer?")).carried == ("throat cancer",)
    assert resolve("and in Germany?", asked("What is the minimum wage in France?")).carried == ("minimum wage",)


@pytest.mark.parametrize(
    "question",
    [
        "What should I cook for dinner tonight?",
        "What should we eat tonight?",
        "Tell me a joke",
        "What's the weather today?",
        "Will it rain tomorrow?",
        "What time is it?",
        "What is in the news today?",
    ],
)
def test_a_change_of_subject_takes_nothing_along(question: str) -> None:
    for before in (asked("Is coffee bad for you?"), asked("Is coffee bad for you?", "Tell me a joke")):
        resolved = resolve(question, before)
        assert (resolved.query, resolved.changed, resolved.leans, resolved.asks) == (question, False, False, True)


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        ("What is Lisbon famous for?", "What's the weather today?", "What's the weather today, Lisbon?"),
        ("Best restaurants in Rome", "will it rain tomorrow?", "will it rain tomorrow, Rome?"),
        ("weather in Paris", "and tomorrow?", "weather in Paris, tomorrow"),
    ],
)
def test_weather_is_asked_of_a_place(before: str, question: str, query: str) -> None:
    assert resolve(question, asked(before)).query == query


def test_small_talk_is_nothing_to_lean_on() -> None:
    assert (
        understood("What is throat cancer?", "Tell me a joke", "Is it treatable?")[1] == "Is throat cancer treatable?"
    )


def test_an_aspect_takes_the_place_of_nothing() -> None:
    questions = (
        "How many keys can a Zephyrine transaction touch?",
        "And the maximum value size?",
        "Who leads it now?",
    )
    queries = ["the maximum value size of Zephyrine", "Who leads Zephyrine now?"]
    assert understood(*questions) == queries
    assert [resolve(questions[at], asked(*questions[:at])).query for at in (1, 2)] == queries
