"""Which commands the program can print, read off the source: what is given as ``commands``, or looks like one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import qiusuo

ROOT = Path(qiusuo.__file__).parent
_FOURTH = 3  # Finding(code, level, values, commands)
_LOOKS_LIKE_ONE = re.compile(
    r"(?:\{\})?(?:qiusuo|pip|python|uv|docker|docker-compose|curl|wget|export|unset|sudo|systemctl|chmod|chown|ollama"
    r"|redis-cli|redis-server|pg_isready|psql|timedatectl|npm|brew|apt|git|make|df|\{\} -m) (?!compose$|const )\S"
)


def printed_commands() -> dict[str, str]:
    """Return the templates of all commands, ``{}`` for each value in them, with the file where each stands."""
    return {
        template: str(path.relative_to(ROOT))
        for path in sorted(ROOT.rglob("*.py"))
        if "testing" not in path.parts
        for template in _templates(ast.parse(path.read_text("utf-8")))
    }


def _templates(tree: ast.Module) -> Iterator[str]:
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    given = {id(part) for place in _places(tree) for part in ast.walk(place)}
    for node in ast.walk(tree):
        if id(node) in documentation or id(node) in inside:
            continue
        template = _template(node)
        if template and (_LOOKS_LIKE_ONE.match(template) or (id(node) in given and " " in template)):
            yield template


def _places(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "commands")
            if getattr(node.func, "id", "") in {"at_hand", "for_systemd"}:
                yield from node.args
            if getattr(node.func, "id", "") == "Finding" and len(node.args) > _FOURTH:
                yield node.args[_FOURTH]


def _template(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""
