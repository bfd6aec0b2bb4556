"""Names of settings that nobody knows, and that look like one which somebody knows: they are ignored otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from qiusuo.chat.models.vendors import VENDORS
from qiusuo.config import Settings, variable_names
from qiusuo.config.settings import EngineSettings
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.doctor.system import file_values

# Files and environments hold much that is other programs'; only what is nearly ours is told.
_NEARLY: Final = 0.78
# Under [engines.…] all is ours: what is told there may be meant less clearly.
_PERHAPS: Final = 0.6
_PREFIX: Final = "QIUSUO_"  # it would make all of them alike
# In shorter names of providers one letter makes another provider: GROK and GROQ, XAI and ZAI, LLM and VLLM.
_LONG_ENOUGH: Final = 5
# Read elsewhere, and near to the name of a setting.
_OTHERS: Final = frozenset({"QIUSUO_TOKEN"})


async def check_spelling(context: Examination) -> list[Finding]:
    """Look for misspelt names in the file and the environment."""
    settings = context.settings
    variables = {variable for name in Settings.model_fields for variable in variable_names(name)}
    odd = [
        (name, near) for name in file_values(settings) if (near := _near(name, {*Settings.model_fields, *variables}))
    ]
    ours = [name for name in context.environ if name.startswith(("QIUSUO_", "SEARCH_")) and "__" not in name]
    odd += [(name, near) for name in ours if name not in _OTHERS and (near := _near(name, variables))]
    odd += _misspelt_keys(context, {*variables, *_OTHERS, *(name for name, _ in odd)})
    for engine, given in settings.engines.items():
        place = context.roster.places.get(engine)
        if place is None:
            odd.append((f"engines.{engine}", _near(engine, context.roster.places, least=_PERHAPS)))
            continue
        known = {*EngineSettings.model_fields, *(place.kind.own_settings if place.kind else ())}
        extra = (name for name in given.model_extra or {} if name not in known)
        odd += [(f"engines.{engine}.{name}", _near(name, known, least=_PERHAPS)) for name in extra]
    return [
        Finding("settings.misspelt_name", Level.WARNING, {"name": name, "near": near})
        if near
        else Finding("settings.nobodys_name", Level.WARNING, {"name": name})
        for name, near in odd
    ]


def _misspelt_keys(context: Examination, told: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the variables that are one slip away from a key or an address of a provider, which is not set itself."""
    kinds = [place.kind for place in context.roster.places.values()]
    known = {name for kind in kinds for name in (*kind.key_env, *kind.url_env)}
    known |= {name for vendor in VENDORS.values() for name in (*vendor.keys, *vendor.addresses)}
    for name in context.environ:
        if name not in known and name not in told:
            meant = (each for each in sorted(known) if _is_slip(name.removeprefix(_PREFIX), each))
            near = next(meant, None)
            if near is not None and not context.environ.get(near):
                yield name, near


def _is_slip(name: str, known: str) -> bool:
    """Tell whether a name differs by its underscores and small letters, or by one letter or two that are swapped."""
    if name.replace("_", "").upper() == known.replace("_", "").upper():
        return True
    first, meant = name.partition("_")[0], known.partition("_")[0]
    if first != meant and min(len(first), len(meant)) < _LONG_ENOUGH:
        return False
    shorter = min(len(name), len(known))
    same = next((place for place in range(shorter) if name[place] != known[place]), shorter)
    left, right = name[same:], known[same:]
    swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:]
    return swapped or left[1:] == right[1:] or left[1:] == right or left == right[1:]


def _near(name: str, known: Iterable[str], *, least: float = _NEARLY) -> str:
    """Return the known name that is meant, perhaps; nothing where the name itself is known."""
    known = sorted(known)  # of two names of one setting the older comes last, and is the one that the docs have
    names = {each.removeprefix(_PREFIX): each for each in known}
    found = [] if name in known else get_close_matches(name.removeprefix(_PREFIX), names, 1, least)
    return names[found[0]] if found else ""
