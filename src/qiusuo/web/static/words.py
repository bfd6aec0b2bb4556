"""The words of the page as a module of it, made of the catalogue: there is no second copy of them."""

from __future__ import annotations

import json
from typing import Final

from qiusuo.words import Fact, Language
from qiusuo.words.catalogue import Part, codes, template

MODULE: Final = "words.js"
ROOMS: Final = {"later": "later", "settings": "settings_page", "board": "board"}
"""The folders of the page whose modules are loaded only where they are needed, and the file of each one's words."""
OWN_NOTICES: Final = ("lost_turn", "refused", "conversations_full", "turns_full")
"""What the page itself finds. Of all others the server tells, in the page's language."""


def first_words() -> dict[str, str]:
    """Return what stands on the page before its scripts run, in both languages: nobody has chosen one yet."""
    name, about, script = (
        [fact.text(language) for language in Language]
        for fact in (Fact("page.app"), Fact("page.tagline"), Fact("page.needsScript"))
    )
    return {"title": f"{name[0]} · {about[0]}", "name": " ".join(name), "without scripts": " ".join(script)}


def words_module() -> bytes:
    """Return ``words.js``: the page's words, how attempts end, and the page's own notices, by language."""
    tables = {
        "WORDS": {language: _words("page", language) for language in Language},
        "OUTCOMES": {language: _words("outcome", language) for language in Language},
        "NOTICES": {language: {code: _notice(code, language) for code in OWN_NOTICES} for language in Language},
    }
    return "".join(f"export const {name} = {_json(table)};\n" for name, table in tables.items()).encode()


def room_words() -> dict[str, bytes]:
    """Return ``words.js`` of each room: what is read there alone does not weigh on the chat page."""
    tables = {room: {language: _words(prefix, language) for language in Language} for room, prefix in ROOMS.items()}
    return {f"{room}/{MODULE}": f"export const WORDS = {_json(table)};\n".encode() for room, table in tables.items()}


def _words(prefix: str, language: Language) -> dict[str, str]:
    mine = (code for code in codes() if code.startswith(f"{prefix}."))
    return {code.removeprefix(f"{prefix}."): template(code, language) for code in mine}


def _notice(code: str, language: Language) -> dict[str, str]:
    fact = Fact(f"notice.{code}")
    parts = {"title": Part.TITLE, "message": Part.WHAT, "fix": Part.FIX}
    return {name: fact.text(language, part) for name, part in parts.items()}


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1)
