"""Make the words in Traditional Chinese out of those in Chinese, or check that they are up to date.

python scripts/traditional.py            writes zh-Hant/*.toml beside the catalogue's files, and the table of characters
python scripts/traditional.py --check    writes nothing; exit code 1 and the names of the stale files if there are any

OpenCC turns characters and the usual terms (s2twp: as in Taiwan); scripts/traditional.toml has what it gets wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import opencc

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "src" / "qiusuo"
TEXTS: Final = (PACKAGE / "words" / "texts", PACKAGE / "legal" / "words")
CHARACTERS: Final = PACKAGE / "words" / "data" / "traditional.txt"
BY_HAND: Final = Path(__file__).with_suffix(".toml")
MADE: Final = "zh-Hant"
_HAN: Final = (0x4E00, 0x9FFF)


def converter() -> Callable[[str], str]:
    """Return what turns a sentence into Traditional Chinese: terms by hand first, the longest ones before others."""
    by_hand = tomllib.loads(BY_HAND.read_text("utf-8"))
    terms, after = by_hand["terms"], str.maketrans(by_hand["after"])
    known = re.compile("|".join(re.escape(term) for term in sorted(terms, key=len, reverse=True)))
    usual = opencc.OpenCC("s2twp").convert

    def convert(text: str) -> str:
        parts, at = [], 0
        for found in known.finditer(text):
            parts += [usual(text[at : found.start()]), terms[found[0]]]
            at = found.end()
        return "".join([*parts, usual(text[at:])]).translate(after)

    return convert


def sentences(prefix: str, entries: Mapping[str, Any], convert: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Give out the keys of a file and what they say; a whole sentence that is written by hand comes first."""
    by_hand: dict[str, str] = tomllib.loads(BY_HAND.read_text("utf-8"))["sentences"]
    for name, entry in entries.items():
        words = entry.get("zh", {})
        parts = {"": words} if isinstance(words, str) else {f".{part}": text for part, text in words.items()}
        for part, text in parts.items():
            yield f"{name}{part}", by_hand.get(f"{prefix}.{name}{part}") or convert(text)


def made() -> dict[Path, str]:
    """Return what each file should have in it."""
    convert = converter()
    files = {CHARACTERS: characters()}
    for folder in TEXTS:
        for file in sorted(folder.glob("*.toml")):
            entries = tomllib.loads(file.read_text("utf-8"))
            head = f"# Made of ../{file.name} by scripts/traditional.py (`make docs`). Changes made here are lost.\n"
            lines = [
                f"{key} = {json.dumps(text, ensure_ascii=False)}\n"
                for key, text in sentences(file.stem, entries, convert)
            ]
            files[folder / MADE / file.name] = head + "".join(lines)
    return files


def characters() -> str:
    """Return the traditional characters in use with their simplified ones."""
    simplify = opencc.OpenCC("t2s").convert
    found = [(one, simplify(one)) for one in map(chr, range(_HAN[0], _HAN[1] + 1)) if _is_in("big5", one)]
    rows = [f"{one}\t{other}\n" for one, other in found if one != other]
    return "# Traditional and simplified characters, made by scripts/traditional.py out of OpenCC.\n" + "".join(rows)


def _is_in(encoding: str, character: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is stale")
    check: bool = parser.parse_args().check
    files = made()
    gone = [old for folder in TEXTS for old in (folder / MADE).glob("*.toml") if old not in files]
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in [] if check else stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(files[path], "utf-8", newline="\n")
    for path in [] if check else gone:
        path.unlink()
    for path in [*stale, *gone]:
        done = "is deleted" if path in gone else "is written"
        print(f"{path.relative_to(ROOT)} {'is stale: run make docs' if check else done}")
    return 1 if check and (stale or gone) else 0


if __name__ == "__main__":
    sys.exit(main())
