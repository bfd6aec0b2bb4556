"""Names of people in a judgment, found by the roles that introduce them.

Chinese names are not set off from the words around them: 被告人张伟持刀 names 张伟, 被告人张伟民供述 names 张伟民.
A name begins with a surname; where it ends is decided over the whole document: every place where the same two
characters stand votes by what follows there (a mark, a verb, a character that no name has).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

WORDS = Path(__file__).parent.parent / "data" / "people.txt"
_SECTION = re.compile(r"^\[([a-z-]+)\]\n", re.MULTILINE)
HAN: Final = r"\u4e00-\u9fff"
# 被告人王小明（绰号“小王”），男，汉族: whatever the name looks like, its end is known.
_INTRODUCED = re.compile(
    rf"(?:自报|自述)?([{HAN}]{{2,4}})(?:[（(][^（）()]{{1,30}}[）)])?[,，](?:男|女|曾用名|又名|别名|绰号|化名|汉族)"
)
# 李强（另案处理）, 王芳（女，殁年30岁）: the end of a name is known, its beginning is that of a surname.
_NOTED = re.compile(
    rf"([{HAN}]{{2,4}})(?=[（(](?:均?另案|另处|已判|在逃|男[,，)）]|女[,，)）]|殁年|同案|已死亡|未成年|绰号|曾用名|别名))"
)
_ITEM = re.compile(r"[^、,，。;；:：\s（）()]{2,6}(?:[（(][^（）()]{1,20}[）)])?、")
_ORGANISATION = re.compile(
    rf"[{HAN}（）()]{{2,24}}?(?:公司|银行|集团|医院|学校|大学|中学|小学|法院|检察院|公安局|派出所|委员会|政府|管理局|合作社|事务所|保险|中心)"
)
_IN_ORGANISATIONS: Final = frozenset(
    "人县区市省公司局厅商住车电农外行店厂院组村镇路街房号办教体检管制投交通量证客运包装设申"
)
_PLACE = re.compile(rf"[{HAN}]{{2,5}}?(?:村|乡|县|市|区|街|路|酒店|宾馆|饭店|超市|商场|广场|工地|水库|车站)")
_OF_PLACES: Final = frozenset("省市州县区镇乡村路街")
_LAWYER = re.compile(r"[,，（(][^。;；]{0,30}?(?:律师|法律工作者|法律援助)")
_PARTS = re.compile(rf"(?:[{HAN}]{{1,8}}[·•‧・]){{1,3}}")
DOTS: Final = frozenset("·•‧・")
MAX_PART: Final = 8
_GOES_ON: Final = frozenset("0123456789“‘《×")
_MASKED: Final = frozenset("某×xX*＊")
_MARKS: Final = frozenset(",，。、;；（(")
_LOOK_BACK: Final = 12
MAX_LISTED: Final = 60
MAX_PLACES: Final = 40
SURE: Final = 2
ALWAYS: Final = 3


class Lists(NamedTuple):
    """What ``people.txt`` says of names."""

    role: re.Pattern[str]
    roles: tuple[str, ...]
    officials: tuple[str, ...]
    surnames: frozenset[str]
    compound: tuple[str, ...]
    wordlike: frozenset[str]
    grammatical: frozenset[str]
    given: frozenset[str]
    never: frozenset[str]
    hard: frozenset[str]
    small: frozenset[str]
    following: frozenset[str]
    words: frozenset[str]
    transliteration: frozenset[str]


class _Start(NamedTuple):
    """A place where a name may begin. ``sure``: right after a role."""

    place: int
    sure: bool


@functools.cache
def lists() -> Lists:
    """Return the lists of ``people.txt``."""
    text = "".join(line for line in WORDS.read_text("utf-8").splitlines(keepends=True) if not line.startswith("#"))
    _, *parts = _SECTION.split(text)
    read: Mapping[str, list[str]] = {name: words.split() for name, words in zip(parts[::2], parts[1::2], strict=True)}
    single = {name: frozenset("".join(words)) for name, words in read.items()}
    roles = "|".join(sorted(read["roles"], key=len, reverse=True))
    return Lists(
        re.compile(rf"(?:{roles})(?:[（(][^（）()]{{2,24}}[）)])?\s{{0,3}}[:：]?\s{{0,3}}(?=[{HAN}])"),
        tuple(read["roles"]),
        tuple(read["officials"]),
        single["surnames"],
        tuple(read["compound"]),
        single["wordlike"],
        single["grammatical"],
        single["given"],
        single["never"],
        single["hard"],
        single["small"],
        frozenset(read["following"]),
        frozenset(read["words"]),
        single["transliteration"],
    )


def people_in(text: str) -> tuple[str, ...]:
    """Return the names of the people whom a judgment's text introduces by their role."""
    stems: dict[str, bool] = {}
    found: set[str] = set()
    for start in _starts(text):
        name = _dotted(text, start.place) or (_introduced(text, start.place) if start.sure else "")
        if name:
            found.add(name)
            continue
        stem = _stem(text, start.place)
        if stem and (start.sure or not _PLACE.match(text, start.place)):
            stems[stem] = stems.get(stem, False) or start.sure
    introduced = frozenset(found)
    for stem, sure in stems.items():
        found |= _names(text, stem, frozenset(name for name in introduced if name.startswith(stem)), sure=sure)
    return tuple(sorted(found))


def is_name(word: str) -> bool:
    """Tell whether a whole word (of a list of parties) may be a person's name."""
    known = lists()
    size = _surname_size(word, 0)
    given = word[size:]
    return bool(
        size
        and 1 <= len(given) <= 3 - (size > 1)
        and word[: size + 1] not in known.words
        and all("\u4e00" <= character <= "\u9fff" and character not in known.never for character in given)
    )


def _starts(text: str) -> Iterator[_Start]:
    """Yield the places where names may begin: after roles, in lists that begin there, before notes in brackets."""
    listed: set[int] = set()
    for role in lists().role.finditer(text):
        place = role.end()
        if _is_lawyer(text, place, role[0]):
            continue
        yield _Start(place, sure=role[0] != "伙同")
        for _ in range(MAX_LISTED):
            joined = next((size for size in (2, 3, 4) if text[place + size : place + size + 1] in {"和", "与"}), 0)
            if joined:
                yield _Start(place + joined + 1, sure=False)
            item = _ITEM.match(text, place)
            if item is None:
                break
            place = item.end()
            if place in listed:
                break
            listed.add(place)
            yield _Start(place, sure=False)
    known = lists()
    for note in _NOTED.finditer(text):
        end = note.end(1)
        begins = [place for place in range(note.start(1), end - 1) if text[place] in known.surnames]
        likely = [place for place in begins if text[place] not in known.small and end - place <= 3]  # noqa: PLR2004 - length of a name
        if likely:
            yield _Start(likely[0], sure=False)


def _is_lawyer(text: str, place: int, role: str) -> bool:
    """Tell whether a representative is a lawyer, whose name is public: 诉讼代理人王小明，某律师事务所律师."""
    return "代理人" in role and any(_LAWYER.match(text, place + size) for size in (2, 3, 4))


def _introduced(text: str, place: int) -> str:
    """Return the name that a place introduces with what it says of a person: 被告人王小明，男."""
    match = _INTRODUCED.match(text, place)
    hard = lists().hard
    return match[1] if match and not any(character in hard for character in match[1]) else ""


def _dotted(text: str, place: int) -> str:
    """Return 买买提·吐尔逊 where such a name begins, else an empty string."""
    known = lists()
    parts = _PARTS.match(text, place)
    if parts is None or any(character in _MASKED for character in parts[0]):
        return ""
    end = parts.end()
    while end - parts.end() < MAX_PART and text[end : end + 1] in known.transliteration:
        if text[end : end + 2] in known.following:
            break
        end += 1
    return text[place:end] if end > parts.end() else ""


def _surname_size(text: str, place: int) -> int:
    known = lists()
    if text.startswith(known.compound, place):
        return 2
    return int(text[place : place + 1] in known.surnames and bool(text[place : place + 1]))


def _stem(text: str, place: int) -> str:
    """Return surname and first character of the given name, an empty string where no name can begin."""
    known = lists()
    size = _surname_size(text, place)
    first = text[place + size : place + size + 1]
    if not size or not _is_han(first) or first in known.hard:
        return ""
    if first in known.never and (
        text[place] in known.wordlike or text[place + size + 1 : place + size + 2] not in known.given
    ):
        return ""  # 张存杰 is a name, 车辆 is none
    stem = text[place : place + size + 1]
    if text[place : place + 3] in known.words:
        return ""
    organisation = _ORGANISATION.match(text, place)
    if organisation and not any(
        character in known.never and character not in _IN_ORGANISATIONS for character in organisation[0][2:-2]
    ):
        return ""
    return stem


def _names(text: str, stem: str, introduced: frozenset[str], *, sure: bool) -> set[str]:
    """Return the names that begin with a stem: itself, or with one character more, as its places say.

    Where one of those who are ``introduced`` stands, it says nothing of others: 刘建国 has a brother 刘建军.
    """
    known = lists()
    votes: Counter[str] = Counter()
    certain: Counter[str] = Counter()
    thirds: Counter[str] = Counter()
    fourths: set[str] = set()
    others = tuple(name for name in introduced if name != stem)
    place, places = text.find(stem), 0
    while place >= 0 and places < MAX_PLACES:
        end = place + len(stem)
        if not (others and text.startswith(others, place)):
            name, weight = _vote(text, end, stem)
            votes[name] += weight
            certain[name] += weight >= SURE
            thirds[text[end : end + 1]] += 1
            fourths.add(text[end + 1 : end + 2])
            places += 1
        place = text.find(stem, end)
    if not places:
        return set()
    third, same = thirds.most_common(1)[0]
    if same == places and not introduced and _belongs(third, places, len(fourths)) and stem not in known.words:
        return {stem + third}
    most = max(votes.values())
    chosen = {name for name in votes if votes[name] == most or certain[name] >= ALWAYS}
    if not certain[stem]:
        chosen |= {name for name in votes if certain[name]}
    if stem in known.words:  # 孙子涵 may be a name, 被告单位新建 is none
        longer = {name for name in chosen if name != stem and name[-1] in known.given and certain[name] > 1}
        chosen = longer if stem[0] not in known.wordlike else set()
    if introduced:
        # Beside 张伟, who was introduced, there may be a 张伟民.
        another = {name for name in chosen if certain[name] > 1 and name[-1] in known.given}
        return {name for name in chosen if certain[name] and (name in {stem, *another} or stem not in introduced)}
    if not sure or stem[0] in known.wordlike or stem[-1] not in known.given:
        chosen = {name for name in chosen if _is_likely(text, name, sure=sure, certain=bool(certain[name]))}
    return chosen


def _belongs(third: str, places: int, followers: int) -> bool:
    """Tell whether a character without which a stem never stands belongs to the name, whatever it means elsewhere."""
    known = lists()
    if not _is_han(third) or third in known.hard or third in _OF_PLACES:
        return False
    if third in known.never or third in known.small:
        return places >= 2 * ALWAYS and followers >= ALWAYS
    return places >= ALWAYS and followers > 1


def _is_likely(text: str, name: str, *, sure: bool, certain: bool) -> bool:
    """Tell whether what stands in a list, or begins like an ordinary word, is a name nevertheless."""
    known = lists()
    size = _surname_size(name, 0)
    usual = all(character in known.given for character in name[size:])
    longer = size + 1 < len(name)
    if name[0] not in known.wordlike:
        return (longer and usual) or (certain and (longer or sure or usual))
    plain = certain and usual and name[0] not in known.grammatical
    if plain and (longer or (sure and name[-1] not in known.small)):
        return True
    return _stands_alone(text, name)


def _stands_alone(text: str, name: str) -> bool:
    """Tell whether a name stands somewhere between a role or the mark of a list and another mark."""
    before = ("、", "）", ")", *lists().roles)
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        if text[end : end + 1] in _MARKS and text[max(0, place - _LOOK_BACK) : place].rstrip(" \u3000:：").endswith(
            before
        ):
            return True
        place = text.find(name, end)
    return False


def _vote(text: str, end: int, stem: str) -> tuple[str, int]:
    """Return how the name that begins with ``stem`` goes on at one place, and how sure that is (0 to 3)."""
    known = lists()
    third = text[end : end + 1]
    if third in _MASKED:
        return stem, 0  # 张伟某: masked already
    if not _is_han(third) or third in known.never:
        return stem, 3
    if text[end : end + 2] in known.following:
        return stem, 2
    after = text[end + 1 : end + 2]
    marked = not _is_han(after)
    followed = marked or after in known.never or text[end + 1 : end + 3] in known.following or after in known.small
    if third in known.small:
        # 李建和、 is a name; 张伟和李强, 张伟于2018年, 张伟以“…” have small words.
        return (stem + third, 1) if marked and after not in _GOES_ON else (stem, 2)
    if third in known.given:
        return stem + third, 3 if marked else 2 if followed else 1
    return (stem + third, 2) if marked else (stem, 1)


def _is_han(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff" if character else False
