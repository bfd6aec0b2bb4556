"""The words of the page as modules of it, made of the catalogue: there is no second copy of them.

Each language has modules of its own (``words/zh.js``), so that nobody loads the words of another one.
"""

from __future__ import annotations

import json
from typing import Final

from qiusuo.chat.slash import COMMANDS
from qiusuo.words import Fact, Language
from qiusuo.words.catalogue import Part, codes, template

WORDS: Final = "words"
ROOMS: Final = {"later": "later", "settings": "settings_page", "board": "board"}
"""The folders of the page whose modules are loaded only where they are needed, and the file of each one's words."""
OWN_NOTICES: Final = ("lost_turn", "refused", "conversations_full", "turns_full")
"""What the page itself finds. Of all others the server tells, in the page's language."""
_FIRST: Final = (Language.CHINESE, Language.ENGLISH)


def first_words() -> dict[str, str]:
    """Return what stands on the page before its scripts run, in two languages: nobody has chosen one yet."""
    name, about, script = (
        [fact.text(language) for language in _FIRST]
        for fact in (Fact("page.app"), Fact("page.tagline"), Fact("page.needsScript"))
    )
    return {"title": f"{name[0]} · {about[0]}", "name": " ".join(name), "without scripts": " ".join(script)}


def words_modules() -> dict[str, bytes]:
    """Return the modules with words by their names: those of the page, and of each of its rooms."""
    made = {f"{WORDS}/{language}.js": _page_words(language) for language in Language}
    for room, prefix in ROOMS.items():
        made |= {f"{room}/{WORDS}/{each}.js": _module({"WORDS": _words(prefix, each)}) for each in Language}
    return made | {"later/commands.js": _commands()}


def _page_words(language: Language) -> bytes:
    """Return the page's words, how attempts end, the page's own notices, and the names of the languages."""
    return _module(
        {
            "WORDS": _words("page", language),
            "OUTCOMES": _words("outcome", language),
            "NOTICES": {code: _notice(code, language) for code in OWN_NOTICES},
            "LANGUAGES": [[each.value, each.tag, Fact("page.language").text(each)] for each in Language],
        }
    )


def _commands() -> bytes:
    """Return those slash commands of the terminal that the page has too, with their words."""
    table = [
        {
            "name": command.name,
            "argument": command.argument,
            "choices": list(command.choices),
            "help": {language: Fact(f"terminal.help_{command.name}").text(language) for language in Language},
        }
        for command in COMMANDS.values()
        if command.page
    ]
    return _module({"COMMANDS": table})


def _words(prefix: str, language: Language) -> dict[str, str]:
    mine = (code for code in codes() if code.startswith(f"{prefix}."))
    return {code.removeprefix(f"{prefix}."): template(code, language) for code in mine}


def _notice(code: str, language: Language) -> dict[str, str]:
    fact = Fact(f"notice.{code}")
    parts = {"title": Part.TITLE, "message": Part.WHAT, "fix": Part.FIX}
    return {name: fact.text(language, part) for name, part in parts.items()}


def _module(tables: dict[str, object]) -> bytes:
    lines = (
        f"export const {name} = {json.dumps(table, ensure_ascii=False, indent=1)};\n" for name, table in tables.items()
    )
    return "".join(lines).encode()
