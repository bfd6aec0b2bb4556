"""Reading files: what becomes of whole ones, and that hostile ones end in an error and nothing else."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from qiusuo.errors import FileError
from qiusuo.files import FileKind, FileReader, FileText
from qiusuo.words import Fact, Language
from tests.support import made_files

pytestmark = pytest.mark.programs  # each file is read in a process of its own

READER = FileReader()


async def read(name: str, data: bytes, **limits: float) -> FileText:
    return await FileReader(**limits).read(name, data) if limits else await READER.read(name, data)  # type: ignore[arg-type]


class TestPdf:
    async def test_pages_keep_their_numbers(self) -> None:
        found = await read("合同.pdf", made_files.contract())
        assert (found.kind, found.pages, found.cut) == (FileKind.PDF, 9, False)
        [seventh] = [part for part in found.parts if part.page == 7]
        assert "每逾期一日应向需方支付合同总价千分之三的违约金。" in seventh.text
        assert found.place(6) == Fact("file.on_page", name="合同.pdf", page=7)
        assert found.place(6).text(Language.CHINESE) == "合同.pdf，第 7 页"

    async def test_a_page_without_text_does_not_shift_the_others(self) -> None:
        found = await read("a.pdf", made_files.pdf("First page here.", [], "Third page here."))
        assert [(part.page, part.text) for part in found.parts] == [(1, "First page here."), (3, "Third page here.")]
        assert found.pages == 3

    async def test_lines_that_were_broken_at_the_edge_are_put_together(self) -> None:
        lines = [
            "甲方应当在收到货物之日起三十日内向乙方支付全部货",
            "款，逾期支付的承担违约责任。",
            "第二条 保密",
            "The supplier delivers the spare parts to the ware-",
            "house within ten days.",
        ]
        [part] = (await read("a.pdf", made_files.pdf(lines))).parts
        assert part.text.split("\n") == [
            "甲方应当在收到货物之日起三十日内向乙方支付全部货款，逾期支付的承担违约责任。",
            "第二条 保密",
            "The supplier delivers the spare parts to the warehouse within ten days.",
        ]

    async def test_how_far_it_is_is_told(self) -> None:
        told: list[tuple[int, int]] = []
        await READER.read("a.pdf", made_files.contract(), lambda page, pages: told.append((page, pages)))
        assert told == [(page, 9) for page in range(9)]


class TestWord:
    async def test_headings_paragraphs_and_tables(self) -> None:
        data = made_files.docx(
            "# 劳动合同",
            "甲方聘用乙方。",
            "## 工资",
            "乙方的月工资如下。",
            [["项目", "金额"], ["基本工资", "8600元"]],
            "#1 is no heading",
        )
        found = await read("合同.docx", data)
        assert found.kind is FileKind.DOCX
        assert [part.heading for part in found.parts] == ["劳动合同", "工资"]
        assert "基本工资 | 8600元" in found.parts[1].text
        assert found.place(1) == Fact("file.below", name="合同.docx", heading="工资")


class TestText:
    @pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
    async def test_the_charset_is_found(self, charset: str) -> None:
        text = "会议纪要\n本次会议决定于三月五日开工，预算为两百万元，由张工负责现场协调。\n" * 3
        found = await read("纪要.txt", text.encode(charset))
        assert found.kind is FileKind.TEXT
        assert "预算为两百万元" in found.parts[0].text

    async def test_long_text_is_cut_into_parts_with_their_lines(self) -> None:
        text = "\n".join(f"Line {number} tells of the house number {number}." for number in range(1, 401))
        found = await read("notes.txt", text.encode())
        assert len(found.parts) > 3
        for index, part in enumerate(found.parts):
            assert part.text.startswith(f"Line {part.line} ")
            if index:
                assert found.place(index) == Fact("file.at_line", name="notes.txt", line=part.line)
        assert "\n".join(part.text for part in found.parts) == text

    async def test_markdown_is_cited_by_its_headings(self) -> None:
        found = await read("a.md", b"# Guide\n\nHello there.\n\n## Install\n\nRun it.\n\n```\n# no heading\n```\n")
        assert [(part.heading, part.line) for part in found.parts] == [("Guide", 1), ("Install", 5)]
        assert "# no heading" in found.parts[1].text

    async def test_html_is_read_without_its_scripts(self) -> None:
        words = "The lighthouse was built in 1871 and is 47 metres tall. " * 4
        page = (
            f"<!doctype html><title>T</title><script>alert(1)</script><article><h2>Height</h2><p>{words}</p></article>"
        )
        found = await read("page.html", page.encode())
        assert found.kind is FileKind.HTML
        text = "\n".join(part.text for part in found.parts)
        assert "47 metres tall" in text
        assert "alert" not in text

    async def test_a_single_line_may_be_as_long_as_a_file(self) -> None:
        found = await read("line.txt", b"a" * (10 * 1024**2))
        assert found.cut
        assert 990_000 < found.chars <= 1_000_000

    async def test_what_is_too_long_is_cut(self) -> None:
        found = await read("long.txt", ("A sentence of some words stands here again.\n" * 30_000).encode())
        assert found.cut
        assert 990_000 < found.chars <= 1_000_000


def bomb() -> bytes:
    return made_files.packed(b"<w>" + b" " * (40 * 1024**2) + b"</w>")


def many_bombs() -> bytes:
    return made_files.packed("<w/>", **{f"word/media/{n}.bin": bytes(9 * 1024**2) for n in range(12)})


def expanding() -> bytes:
    """An entity of entities: a few bytes that become gigabytes."""
    steps = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = f"<w:document {space}><w:body><w:p><w:r><w:t>&l9;</w:t></w:r></w:p></w:body></w:document>"
    return made_files.packed(f'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY l0 "lol">{steps}]>{body}')


def other_package() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("xl/workbook.xml", "<x/>")
    return out.getvalue()


HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "encrypted pdf": ("a.pdf", lambda: made_files.pdf("secret", encrypted=True), "file.encrypted"),
    "scanned pdf": ("a.pdf", lambda: made_files.pdf([], []), "file.scanned"),
    "broken pdf": ("a.pdf", lambda: b"%PDF-1.7\n" + bytes(range(256)) * 40, "file.broken"),
    "html called pdf": ("a.pdf", lambda: b"<html><body>not found</body></html>", "file.broken"),
    "picture": ("a.txt", lambda: b"\x89PNG\r\n\x1a\n" + bytes(200), "file.wrong_kind"),
    "picture that goes on as text": ("a.txt", lambda: b"\x89PNG\r\n\x1a\n" + b"plain words " * 9, "file.wrong_kind"),
    "gzip that goes on as text": ("a.txt", lambda: b"\x1f\x8b" + b"plain words " * 99, "file.wrong_kind"),
    "spreadsheet": ("a.docx", other_package, "file.wrong_kind"),
    "old word": ("a.doc", lambda: bytes.fromhex("D0CF11E0A1B11AE1") + bytes(600), "file.old_word"),
    "encrypted docx": (
        "a.docx",
        lambda: bytes.fromhex("D0CF11E0A1B11AE1") + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
        "file.encrypted",
    ),
    "broken docx": ("a.docx", lambda: made_files.docx("Hello")[:-400], "file.broken"),
    "docx of no xml": ("a.docx", lambda: made_files.packed("no xml"), "file.broken"),
    "zip bomb": ("a.docx", bomb, "file.bomb"),
    "many bombs": ("a.docx", many_bombs, "file.bomb"),
    "empty": ("a.txt", lambda: b"", "file.empty"),
    "blank": ("a.txt", lambda: b" \n\n ", "file.empty"),
    "docx without text": ("a.docx", lambda: made_files.docx(""), "file.no_text"),
    "too large": ("a.txt", lambda: b"a" * (10 * 1024**2 + 1), "file.too_large"),
    "script in its name": ("<script>alert(1)</script>.txt", lambda: b"x", "file.bad_name"),
    "path": ("../../etc/passwd", lambda: b"x", "file.bad_name"),
    "path of Windows": ("C:\\secret.txt", lambda: b"x", "file.bad_name"),
    "control characters": ("a\x1b[2J.txt", lambda: b"x", "file.bad_name"),
    "turned round": ("contract\u202efdp.exe", lambda: b"x", "file.bad_name"),
    "no name": ("  ", lambda: b"x", "file.no_name"),
    "long name": ("a" * 201, lambda: b"x", "file.long_name"),
}


def in_circles(*, count: int) -> bytes:
    """A tree of pages that is a branch of itself."""
    whole = made_files.pdf("page")
    return whole.replace(b"/Count 1 /Kids [6 0 R]", b"/Count %d /Kids [2 0 R 6 0 R 2 0 R]" % count)


class TestHostile:
    @pytest.mark.parametrize("count", [1, 2, 2_000_000_000])
    async def test_pages_in_circles_end_somewhere(self, count: int) -> None:
        assert b"[2 0 R 6 0 R" in in_circles(count=count)
        try:
            found = await read("circle.pdf", in_circles(count=count))
        except FileError as error:
            assert error.fact.code in {"file.broken", "file.scanned", "file.too_slow", "file.too_complex"}  # noqa: PT017
        else:
            assert "page" in found.parts[0].text

    @pytest.mark.parametrize("what", list(HOSTILE))
    async def test_it_is_a_clear_error(self, what: str) -> None:
        name, data, code = HOSTILE[what]
        with pytest.raises(FileError) as caught:
            await read(name, data())
        assert caught.value.fact.code == code
        for language in Language:
            words = caught.value.wording(language)
            assert words.what
            assert words.fix
            assert not any(each in f"{words.what}{words.fix}" for each in ("<script>", "\u202e", "\x1b"))

    async def test_entities_are_not_expanded(self) -> None:
        with pytest.raises(FileError) as caught:
            await read("a.docx", expanding())
        assert caught.value.fact.code in {"file.no_text", "file.broken"}

    async def test_a_page_that_never_ends_is_given_up(self) -> None:
        # Millions of characters are drawn one over the other.
        drawn = b"BT /F1 12 Tf 56 780 Td\n" + b"<00410042> Tj 1 0 Td\n" * 3_000_000 + b"ET"
        with pytest.raises(FileError) as caught:
            await read("slow.pdf", made_files.pdf("a", content=drawn), seconds=1.0)
        assert caught.value.fact.code in {"file.too_slow", "file.too_complex"}

    async def test_what_eats_memory_is_stopped_by_its_limit(self) -> None:
        drawn = b"BT /F1 12 Tf 56 780 Td\n" + b"<00410042> Tj 1 0 Td\n" * 3_000_000 + b"ET"
        with pytest.raises(FileError) as caught:
            await read("large.pdf", made_files.pdf("a", content=drawn), memory=200 * 1024**2)
        assert caught.value.fact == Fact("file.too_complex", name="large.pdf")
