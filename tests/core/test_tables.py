"""Tables of facts: every one in the package can be read, and each line says where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

import qiusuo
from qiusuo.tables import read_table

TABLES = sorted(Path(qiusuo.__file__).parent.rglob("*.tsv"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_each_line_says_where_it_comes_from(path: Path) -> None:
    rows = list(read_table(path))
    assert rows
    assert all(row["source"].strip() for row in rows)
    assert len({tuple(row.values()) for row in rows}) == len(rows)


@pytest.mark.parametrize("text", ["name\tkind\na\tb\n", "name\tsource\na\n", "name\tsource\na\tb\tc\n", ""])
def test_a_table_that_does_not_fit_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"table\.tsv"):
        list(read_table(path))
