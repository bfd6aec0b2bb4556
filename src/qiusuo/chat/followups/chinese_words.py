"""A Chinese question as words with their kinds, and as the things that it names.

There is no dictionary of names here: what the tables do not know is taken for a name or a thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from qiusuo.chat.followups.conversation import Thing
from qiusuo.chat.followups.lexicon import read_words
from qiusuo.citations.meaning.gazetteer import chinese_names

LEXICON: Final = read_words("chinese.tsv")
# A word of several kinds is of the first of these.
_ORDER: Final = (
    "not_pointing",
    "place_pointer",
    "person",
    "thing",
    "inside",
    "time",
    "asking",
    "light",
    "aspect",
    "doing",
    "predicate",
    "class_noun",
)
# A class of one character (书, 法, 病) is the end of many a name and tells nothing by itself.
_KINDS: Final = {
    word: kind for kind in reversed(_ORDER) for word in LEXICON[kind] if kind != "class_noun" or len(word) > 1
}
_LENGTHS: Final = {
    first: sorted({len(word) for word in _KINDS if word[0] == first}, reverse=True) for first in {w[0] for w in _KINDS}
}
NUMBER: Final = "0-9零〇一二两三四五六七八九十百千"
PARTS_OF_ARTICLE: Final = rf"(?:第[{NUMBER}]+款)?(?:第[{NUMBER}]+项)?"
# What is one word whatever stands in it: a title, a year, an article of a law, a word in Latin letters.
_MEASURES: Final = "".join(LEXICON["measure"])
_CLASSES: Final = "|".join(sorted(LEXICON["class_noun"], key=len, reverse=True))
_LONGER: Final = "|".join(LEXICON["begins_like_class"])  # 那法 is no word of 那法定节假日
_NO_MEASURE: Final = "|".join(LEXICON["begins_like_measure"])  # nor 那家 one of 那家暴呢
_FIXED: Final = re.compile(
    rf"(?P<title>《[^》]+》|“[^”]+”|\"[^\"]+\")"
    rf"|(?P<article>(?:第[{NUMBER}]+|(?<=[法典例定则释》])\d{{1,4}})[条條](?:之[一二三四五六七八九十])?{PARTS_OF_ARTICLE})"
    r"|(?P<time>(?:19|20)\d\d年?(?:\d{1,2}月份?)?(?:\d{1,2}[日号])?|\d{1,2}月份?(?:\d{1,2}[日号])?)"
    r"|(?P<latin>[A-Za-z0-9][A-Za-z0-9.+#&'/-]*(?: +[A-Za-z0-9][A-Za-z0-9.+#&'/-]*)*)"
    rf"|(?P<thing>[这那這该此](?:一?[{_MEASURES}])?(?!{_LONGER})(?:{_CLASSES})|[这那這]一?(?!{_NO_MEASURE})[{_MEASURES}])"
    r"|(?P<mark>[\s,，。!！?？;；:：、~…—()（）]+)"
)
_PARTICLES: Final = "吗呢吧啊呀么嘛啦哦噢哈哟的了"
# They stand before a name, never at its beginning.
_NEVER_FIRST: Final = "你我您的了着过一个下到也在吃喝看听玩用"
_VERBS: Final = "".join(LEXICON["asked_verb"])
_MEASURED: Final = re.compile(f"[有是{_VERBS}]?(?:多[少长大高远重久深宽厚快]|几)|是谁[?？]?$")
# There 儿 is a child and no ending: 那儿童呢.
_AFTER_CHILD: Final = tuple("童子女科歌媳孙")
# 那 points to nothing in 那合同没到期呢.
_ONLY_OPENS: Final = re.compile(rf"那(?:{_CLASSES})(?!的)[\u3400-\u9fff]+呢[?？]*$|那(?:{_LONGER})")
_FIXED_HAN: Final = "第这那這该此"
_CUTS: Final = "是有把被给让吗呢吧啊呀嘛啦"
HARD: Final = frozenset({"content", "known", "name", "title", "latin", "article"})
SOFT: Final = frozenset({"aspect", "doing", "predicate", "class_noun"})
NOUNS: Final = HARD | SOFT
POINTERS: Final = frozenset({"person", "thing", "place_pointer"})


def one_of(kind: str) -> re.Pattern[str]:
    """Return a pattern for the words of a kind, the longest first."""
    return re.compile("|".join(sorted(LEXICON[kind], key=len, reverse=True)))


OPENING: Final = one_of("opener")


@dataclass(frozen=True)
class Word:
    """A word of a question, where it begins, and what kind of word it is."""

    text: str
    start: int
    kind: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def words_of(text: str, known: Sequence[str] = ()) -> list[Word]:
    """Cut a question into words: the longest one of a table at each place, and what is left between them.

    ``known`` are things that the conversation was about.
    """
    names = dict.fromkeys(sorted((name for name in known if name in text), key=len, reverse=True), "known")
    names |= dict.fromkeys((name for name in chinese_names(text) if name not in names), "name")
    found: list[Word] = []
    at = unknown = 0
    while at < len(text):
        word = _word_at(text, at, names)
        if word is None:
            at += 1
            continue
        if unknown < at:
            found.append(Word(text[unknown:at], unknown, "content"))
        found.append(word)
        at = unknown = word.end
    if unknown < at:
        found.append(Word(text[unknown:at], unknown, "content"))
    return found


def _word_at(text: str, at: int, names: dict[str, str]) -> Word | None:
    """Return the word at a place, or None; ``names`` with their kinds."""
    character = text[at]
    name = next((Word(name, at, kind) for name, kind in names.items() if text.startswith(name, at)), None)
    if name and name.kind == "known":
        return name
    known = _known_at(text, at)
    if known and known.kind in {"not_pointing", "time"}:
        return known
    if known is None and character in _VERBS and _is_asked_verb(text, at):
        return Word(character, at, "light")
    if at == 0 and _ONLY_OPENS.match(text):
        return Word(character, at, "thing")
    if (character in _FIXED_HAN or not "\u3400" <= character <= "\u9fff") and (match := _FIXED.match(text, at)):
        return Word(match[0], at, str(match.lastgroup))
    return name or known


def _known_at(text: str, at: int) -> Word | None:
    for length in _LENGTHS.get(text[at], ()):
        word = text[at : at + length]
        if word in _KINDS and not (word.endswith("儿") and text.startswith(_AFTER_CHILD, at + length)):
            return Word(word, at, _KINDS[word])
    return None


def _is_asked_verb(text: str, at: int) -> bool:
    """Tell whether a verb of one character goes with the asking word behind it: 判几年, 归谁, but not 谈判几次."""
    after = _known_at(text, at + 1) if at + 1 < len(text) else None
    return after is not None and after.kind == "asking" and text[max(0, at - 1) : at + 1] not in LEXICON["ends_in_verb"]


def things_of(words: Sequence[Word], text: str) -> list[Thing]:
    """Return what a question names, in its order."""
    introduced = {word.end for word in words if word.text in LEXICON["introducing"]}
    things = (
        _trimmed(piece, text, introduced=piece[0].start in introduced, measured=_is_measured(text[piece[-1].end :]))
        for piece in _pieces(words)
    )
    return [thing for thing in things if thing]


def _is_measured(rest: str) -> bool:
    """Tell whether the rest of a question asks how much of it there is, or who it is: 云岭大桥的主跨有多长."""
    return _MEASURED.match(rest) is not None


def _pieces(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the stretches between words that only ask, point or join; single characters may be part of a name."""
    piece: list[Word] = []
    for word in words:
        small = word.kind in {"light", "thing"} and len(word.text) == 1 and word.text not in _CUTS
        if word.kind in NOUNS or small:
            piece.append(word)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _trimmed(piece: list[Word], text: str, *, introduced: bool, measured: bool) -> Thing | None:
    kept = [at for at, word in enumerate(piece) if word.kind in NOUNS]
    if not kept:
        return None
    first, last = kept[0], kept[-1]
    if introduced and first == 1 and piece[0].text not in _NEVER_FIRST:
        first = 0  # 介绍一下都江堰: 都 belongs to the name
    if (
        first == last
        and len(piece[first].text) == 1
        and last + 1 < len(piece)
        and piece[last + 1].text not in _PARTICLES
    ):
        last += 1  # 芸和 is a name, though 和 mostly joins two
    says = next((at for at in range(first + 1, last + 1) if piece[at].kind == "predicate"), last + 1)
    piece = piece[first:says]
    owner = _owner(piece, measured=measured)
    if not any(word.kind in HARD for word in owner):
        owner = piece
    # How long it is was asked and answered; somebody who is asked for goes on to be asked about.
    answered = (measured or piece[0].kind == "known") and piece[-1].text not in LEXICON["person_aspect"]
    start, end = piece[0].start, (owner if answered else piece)[-1].end
    text_of_owner = text[start : owner[-1].end]
    named = any(word.kind in HARD and word.kind != "content" for word in piece)
    return Thing(start, owner[-1].end, text_of_owner, pairs(text_of_owner), named=named, full=text[start:end])


def _owner(piece: Sequence[Word], *, measured: bool) -> list[Word]:
    """Return the part of a piece that something is asked of: 云岭大桥 of 云岭大桥的主跨, 白鹿原 of 白鹿原作者."""
    owner = list(piece)
    if owner[0].kind == "known":
        end = next((at for at, word in enumerate(owner[1:], 1) if word.kind != "class_noun"), len(owner))
        return owner[:end]
    of = next((at for at, word in enumerate(owner) if word.text == "的"), 0) if measured else 0
    if any(word.kind in HARD and len(word.text) > 1 for word in owner[:of]):
        owner = owner[:of]
    while owner and (owner[-1].kind == "aspect" or owner[-1].text == "的"):
        owner.pop()
    return owner


def pairs(text: str) -> frozenset[str]:
    """Return the pairs of neighbouring characters, to compare things by."""
    return frozenset(text[at : at + 2] for at in range(len(text) - 1)) or frozenset({text})
