"""What is kept of turns, told anew: facts are kept, and the reader may have another language than the turn."""

from __future__ import annotations

from typing import Any

from qiusuo.chat.events.turn import Notice, PageRead, Round
from qiusuo.words import Language


def told(data: dict[str, Any], language: Language) -> dict[str, Any]:
    """Return the JSON of a record, a notice, a round, a reading or any other event with its words in a language.

    What was kept without facts, or with codes that nobody knows any more, stays as it is.
    """
    match data:
        case {"question": _, "notices": list() as notices, "rounds": list() as rounds}:
            return data | {
                "notices": [told(each, language) for each in notices],
                "rounds": [told(each, language) for each in rounds],
                "readings": [told(each, language) for each in data.get("readings", ())],
            }
        case {"code": _, "level": _, "title": _}:
            return data | _without_type(Notice.from_dict(data).to_dict(language))
        case {"number": _, "kind": _, "attempts": _, "reason": _}:
            return data | _without_type(Round.from_dict(data).to_dict(language))
        case {"number": _, "pages": list() as pages, "done": _}:
            return data | {"pages": [told(each, language) for each in pages]}
        case {"number": _, "state": _, "domain": _, "reason": _, "code": _}:
            return data | PageRead.from_dict(data).told(language)
        case _:
            return data


def _without_type(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != "type"}
