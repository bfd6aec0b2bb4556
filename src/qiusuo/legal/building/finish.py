"""What can only be known when everything has been read: citations, repeals, days of effect, gaps in the numbering."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from qiusuo.legal.models import DateBasis
from qiusuo.legal.reading.amendments import amended_articles, amended_names
from qiusuo.legal.reading.dates import effective_day, read_day
from qiusuo.legal.reading.names import KNOWN_REPEALS, STATE, NameTable, kind_of, name_key
from qiusuo.legal.reading.references import LawMention, find_references
from qiusuo.tables import read_table

_DATA = Path(__file__).parent.parent / "data"
_KNOWN_STATUS = _DATA / "known_status.tsv"
_REPEALED_INTERPRETATIONS = _DATA / "known_repealed_interpretations.tsv"
_SENTENCE_END = re.compile(r"[。;；\n]")
_REPEALED = re.compile(r"(?:同时|予以|一并|即行|相应)*废止")
# Words between two names that make the first one a reason, not a repealed law.
_REASON = re.compile(r"根据|依照|按照|依据|规定")
_NEAREST, _FARTHEST = 6, 45
_QUOTED = re.compile(r"《([^《》]+(?:〈[^〈〉]+〉[^《》]*)*)》")
_FROM = re.compile(r"自\s*([^,，。;；]{6,16}?日)\s*起(?:施行|实施)")


def finish(database: sqlite3.Connection) -> None:
    """Derive everything anew; the same documents give the same result, however often an import was interrupted."""
    database.execute("BEGIN IMMEDIATE")
    try:
        _repeals(database)
        _amendments(database)
        _effective_days(database)
        _statuses(database)
        _citations(database)
    except BaseException:  # an interrupt too leaves nothing half done
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def names_in(database: sqlite3.Connection) -> NameTable:
    """Return the table of names of a store."""
    return NameTable.build((int(row[0]), str(row[1])) for row in database.execute("SELECT id, name FROM laws"))


def numbering_gaps(database: sqlite3.Connection) -> list[tuple[str, str, list[int]]]:
    """Return for each version with missing numbers its name, its day and the numbers."""
    numbers: dict[tuple[str, str], set[int]] = defaultdict(set)
    rows = database.execute(
        "SELECT l.name, v.published, a.number FROM articles a JOIN versions v ON v.id = a.version_id"
        " JOIN laws l ON l.id = v.law_id WHERE a.number > 0"
    )
    for name, published, number in rows:
        numbers[name, published].add(number)
    found = []
    for (name, published), present in sorted(numbers.items()):
        # Amendments of a constitution number on from the one before: a start above 1 is no gap.
        missing = sorted(set(range(min(present), max(present))) - present)
        if missing:
            found.append((name, published, missing))
    return found


def _repeals(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM repeals")
    found: dict[str, tuple[str, str, str, str]] = {}
    rows = database.execute(
        "SELECT l.name, a.label, a.text FROM articles a"
        " JOIN versions v ON v.id = a.version_id JOIN laws l ON l.id = v.law_id"
        " WHERE a.text LIKE '%废止%' AND a.text LIKE '%《%' ORDER BY v.published, a.id"
    )
    for successor, label, text in rows.fetchall():
        for name in _repealed_names(text):
            if name_key(name) != name_key(successor):
                # 自公布之日起 is the day of the first version, which need not be this one.
                day = next((read_day(day) for day in _FROM.findall(text)), "")
                found[name_key(name)] = (name, successor, day, label)
    for key, (successor, day) in KNOWN_REPEALS.items():
        name, _, stated, label = found.get(key, (STATE + key, "", "", ""))
        if not stated:
            found[key] = (name, successor, day, label)
    for row in read_table(_REPEALED_INTERPRETATIONS):
        held = database.execute("SELECT name FROM laws WHERE key = ?", (row["law"],)).fetchone()
        if held:
            found.setdefault(row["law"], (held[0], row["successor"], row["day"], ""))
    for key, (name, successor, day, label) in sorted(found.items()):
        database.execute(
            "INSERT OR IGNORE INTO laws (key, name, kind, issuer, department) VALUES (?, ?, ?, '', '')",
            (key, name, kind_of(name).value),
        )
        (law_id,) = database.execute("SELECT id FROM laws WHERE key = ?", (key,)).fetchone()
        newest = database.execute("SELECT max(published) FROM versions WHERE law_id = ?", (law_id,)).fetchone()[0]
        # A law may have been made anew under the same name (企业破产法): then it is not the repealed one.
        if not newest or (day and newest < day):
            database.execute("INSERT INTO repeals VALUES (?, ?, ?, ?)", (law_id, successor, day, label))


def _repealed_names(text: str) -> Iterable[str]:
    """Yield the names that stand in a row right before 废止."""
    for sentence in _SENTENCE_END.split(text):
        end = _REPEALED.search(sentence)
        if end is None:
            continue
        border, gap = end.start(), _NEAREST
        for match in reversed(list(_QUOTED.finditer(sentence, 0, end.start()))):
            between = sentence[match.end() : border]
            if len(between) > gap or _REASON.search(between):
                break
            yield match[1]
            border, gap = match.start(), _FARTHEST


def _amendments(database: sqlite3.Connection) -> None:
    """Find the documents that amend a law, and the articles that each of their items changes."""
    database.execute("DELETE FROM amendments")
    database.execute("DELETE FROM amended")
    names = names_in(database)
    documents = database.execute("SELECT v.id, l.name FROM versions v JOIN laws l ON l.id = v.law_id").fetchall()
    for version_id, document in documents:
        targets = [names.find(name) for name in amended_names(document)]
        for law_id in {found[0] for found in targets if len(found) == 1}:
            database.execute("INSERT INTO amendments VALUES (?, ?)", (law_id, version_id))
            if len(targets) == 1:  # a bare number in a decision on several laws may be of any of them
                _amended(database, law_id, version_id, names)


def _amended(database: sqlite3.Connection, law_id: int, version_id: int, names: NameTable) -> None:
    items = database.execute("SELECT id, text FROM articles WHERE version_id = ? ORDER BY id", (version_id,))
    for article_id, text in items.fetchall():
        for first, last in amended_articles(text, law_id, names.find):
            database.execute(
                "INSERT OR IGNORE INTO amended VALUES (?, ?, ?, ?, ?, ?)", (law_id, *first, *last, article_id)
            )


def _effective_days(database: sqlite3.Connection) -> None:
    """Use the documents that amend a law: they state when its new version takes effect.

    A version that is said to have begun on the day of its publication is looked at too: sources read that off the words
    自公布之日起施行, which an amended law keeps from its first version.
    """
    rows = database.execute(
        "SELECT l.key, v.published, v.effective FROM amendments a JOIN laws l ON l.id = a.law_id"
        " JOIN versions v ON v.id = a.version_id WHERE v.effective >= v.published"
    )
    decisions = {f"{key}|{published}": effective for key, published, effective in rows}
    doubtful = database.execute(
        "SELECT v.id, l.name, v.published, v.effective, v.basis FROM versions v JOIN laws l ON l.id = v.law_id"
        " WHERE v.basis = ? OR v.effective = v.published",
        (DateBasis.PUBLISHED.value,),
    )
    for version_id, name, published, read, basis in doubtful.fetchall():
        stated = read if basis == DateBasis.STATED.value else ""
        effective, known_by = effective_day(name, published, stated, decisions)
        database.execute(
            "UPDATE versions SET effective = ?, basis = ? WHERE id = ?", (effective, known_by.value, version_id)
        )


def _statuses(database: sqlite3.Connection) -> None:
    """Put what was found about a law in the place of a source's bare word, where that was looked into."""
    for known in read_table(_KNOWN_STATUS):
        if known["stated"] != known["status"]:
            database.execute(
                "UPDATE versions SET stated_status = ? WHERE published = ? AND stated_status = ?"
                " AND law_id = (SELECT id FROM laws WHERE key = ?)",
                (known["status"], known["version"], known["stated"], known["law"]),
            )


def _citations(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM citations")
    names = names_in(database)
    citing: dict[int, set[int]] = defaultdict(set)
    rows = database.execute(
        "SELECT a.id, v.law_id, a.text FROM articles a JOIN versions v ON v.id = a.version_id"
        " WHERE a.text LIKE '%条%' OR a.text LIKE '%《%' ORDER BY a.id"
    )
    for article_id, law_id, text in rows.fetchall():
        for quoted in _QUOTED.findall(text):
            for cited in names.find(quoted):
                if cited != law_id:
                    citing[cited].add(law_id)
        for place, reference in enumerate(find_references(text, names.find, inside_law=True)):
            target = reference.law_ids[0] if len(reference.law_ids) == 1 else None
            if reference.mention is LawMention.SELF:
                target = law_id
            last = reference.last or reference.number
            database.execute(
                "INSERT INTO citations VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (article_id, place, target, reference.law_name, *reference.number, *last),
            )
    for law_id, name in database.execute("SELECT id, name FROM laws").fetchall():
        # An interpretation leans on the law that its title names.
        for quoted in _QUOTED.findall(name):
            for cited in names.find(quoted):
                citing[cited].add(law_id)
    database.execute("UPDATE laws SET cited_by = 0")
    database.executemany(
        "UPDATE laws SET cited_by = ? WHERE id = ?", [(len(sources), law_id) for law_id, sources in citing.items()]
    )
