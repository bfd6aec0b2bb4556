"""Files made for tests: PDFs and Word documents, whole ones and hostile ones."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Sequence

from docx import Document

CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns='
    '"http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def pdf(*pages: Sequence[str] | str, encrypted: bool = False, content: bytes | None = None) -> bytes:
    """Return a PDF with these lines on its pages.

    The font is one that every reader of Chinese PDFs must know without being told: it is not embedded, and there is no
    table from its characters to Unicode. ``content`` is what all pages draw instead.
    """
    bodies: list[bytes] = [b"", b""]  # the catalogue and the tree of pages come at the end
    bodies.append(
        b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [4 0 R] >>"
    )
    bodies.append(
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) "
        b"/Ordering (GB1) /Supplement 4 >> /DW 1000 /W [1 95 500] >>"
    )
    kids = []
    for page in pages:
        drawn = content if content is not None else _drawn([page] if isinstance(page, str) else page)
        packed = zlib.compress(drawn)
        bodies.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed))
        bodies.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(bodies)
        )
        kids.append(len(bodies))
    bodies[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    bodies[1] = b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(kids), listed)
    return _file(bodies, encrypted=encrypted)


def _drawn(lines: Sequence[str]) -> bytes:
    moves = b"".join(b"<%b> Tj 0 -18 Td\n" % line.encode("utf-16-be").hex().encode() for line in lines)
    return b"BT /F1 12 Tf 56 780 Td\n" + moves + b"ET"


def _file(bodies: Iterable[bytes], *, encrypted: bool) -> bytes:
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.6\n%\xe2\xe3\xcf\xd3\n")
    for number, body in enumerate(bodies, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    lock = b""
    if encrypted:
        secret = b"ab" * 32
        lock = b"/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <%b> /U <%b> >> /ID [<%b> <%b>] " % (
            secret,
            secret,
            b"cd" * 16,
            b"cd" * 16,
        )
    out.write(b"trailer\n<< /Size %d /Root 1 0 R %b>>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, lock, table))
    return out.getvalue()


def docx(*blocks: str | list[list[str]]) -> bytes:
    """Return a Word document: text that begins with # is a heading, a list of rows is a table."""
    document = Document()
    for block in blocks:
        if isinstance(block, list):
            table = document.add_table(len(block), len(block[0]))
            for row, words in zip(table.rows, block, strict=True):
                for cell, word in zip(row.cells, words, strict=True):
                    cell.text = word
        elif block.startswith("#"):
            document.add_heading(block.lstrip("# "), block.count("#"))
        else:
            document.add_paragraph(block)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def packed(document: bytes | str, **others: bytes) -> bytes:
    """Return a package with this as the text of its document."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("[Content_Types].xml", CONTENT_TYPES)
        made.writestr("_rels/.rels", RELATIONS)
        made.writestr("word/document.xml", document)
        for name, data in others.items():
            made.writestr(name, data)
    return out.getvalue()


def contract() -> bytes:
    """Return a Chinese contract of nine pages; the penalty stands on the seventh."""
    pages = [
        [f"设备采购合同 第{number}页", f"第{number}条 双方按照约定履行各自的义务，交付地点为第{number}号仓库。"]
        for number in range(1, 10)
    ]
    pages[6] = [
        "违约责任",
        "供方逾期交货的，每逾期一日应向需方支付合同总价千分之三的违约金。",
        "违约金累计不超过合同总价的百分之十。",
    ]
    return pdf(*pages)


def manual() -> bytes:
    """Return an English manual of eight pages; the torque stands on the seventh."""
    pages = [
        [f"Pump manual, page {number}", f"Section {number} describes the housing number {number}."]
        for number in range(1, 9)
    ]
    pages[6] = ["Tightening", "The flange bolts of the Corvid pump are tightened to 47 newton metres."]
    return pdf(*pages)
