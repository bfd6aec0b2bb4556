"""What follow-up questions are understood as."""

from __future__ import annotations

from qiusuo.chat.followups import Exchange, resolve


def understood(*questions: str) -> list[str]:
    """Return what later questions mean where earlier ones are remembered as they were understood."""
    before: list[Exchange] = []
    for question in questions:
        before.append(Exchange(resolve(question, before).query))
    return [each.question for each in before[1:]]
