"""A model that plans, writes and sums up a research about the bridge of the small web."""

from __future__ import annotations

from tests.support.scripted_model import Asked, Gate, Reply, Step

QUESTION = "云岭大桥怎么样"
PARTS = ("云岭大桥主跨有多长？", "云岭大桥怎么收费？", "云岭大桥的总设计师是谁？")
SENTENCES = ("云岭大桥主跨长1196米", "小客车通过云岭大桥每次收费15元", "大桥由林致远担任总设计师")


def prompt_of(asked: Asked) -> str:
    return str(asked.messages[-1]["content"])


def is_plan(asked: Asked) -> bool:
    return prompt_of(asked).endswith("子问题：")


def part_of(asked: Asked) -> str:
    """Return the sub-question whose section is asked for; empty for the plan and the summary."""
    return next((part for part in PARTS if f"这一节回答：{part}" in prompt_of(asked)), "")


def writer(gate: Gate | None = None, waits_at: str = "") -> Step:
    """Return a model that writes from the sources it is given; at one section it waits for the gate."""

    def answer(asked: Asked) -> Reply:
        if is_plan(asked):
            return Reply.text("\n".join(PARTS))
        part = part_of(asked)
        if not part:
            return Reply.text("云岭大桥是一座收费的悬索桥 [1]。")
        sentence = SENTENCES[PARTS.index(part)]
        marks = [line.split("]")[0] for line in prompt_of(asked).splitlines() if sentence in line]
        told = f"{sentence} {marks[0] if marks else '[1'}]。"
        return Reply.text(gate, told) if gate is not None and part == waits_at else Reply.text(told)

    return answer
