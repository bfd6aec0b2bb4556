"""The side of 国家法律法规数据库 on the wire, as public programs show it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from qiusuo.testing.server import Answer, Fault, Provider, Seen

PATH = "/law-search/search/list"
DOWNLOAD_PATH = "/law-search/download/pc"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PAGE_SIZES = {10, 20, 30, 40, 50, 100}


class Flk(Provider):
    """Answers ``POST /law-search/search/list``."""

    titles: bool = True
    """Whether titles hold what is looked for; texts always do."""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - open to all
        return True

    def answer(self, seen: Seen) -> Answer:
        if (seen.method, seen.path) != ("POST", PATH):
            return Answer({"code": 404, "msg": "Not Found"}, 404)
        body = seen.json
        # A range of 0 is answered with 500 inside 200.
        if body.get("searchRange") not in (1, 2) or body.get("pageSize") not in PAGE_SIZES:
            return Answer({"code": 500, "msg": "系统异常"})
        found = 0 if body["searchRange"] == 1 and not self.titles else self.results
        rows = [self._row(number, body["searchContent"]) for number in range(1, min(body["pageSize"], found) + 1)]
        return Answer({"code": 200, "msg": "查询成功", "total": found, "rows": rows})

    def _row(self, number: int, words: str) -> dict[str, Any]:
        page = self.page(number, words)
        return {
            "bbbs": f"{number:032x}",
            "title": f"<em class='highlight'>{page['title']}</em>",
            "gbrq": page["date"],
            "sxrq": "2026-12-01" if number % 2 else None,
            # A number, and text in older answers.
            "sxx": 3 if number % 3 else "4",
            "zdjgName": "全国人民代表大会常务委员会",
            "flxz": "法律",
        }

    def unreadable(self, seen: Seen) -> Answer:  # noqa: ARG002 - whatever was asked
        return Answer({"code": 200, "total": 3, "rows": [{"title": "no id"}, 7, None]})

    def refuse(self, fault: Fault) -> Answer:
        answer = super().refuse(fault)
        return Answer({"code": answer.status, "msg": answer.body["error"]}, answer.status)


@dataclass(frozen=True, slots=True)
class FlkLaw:
    """A law of the database: what its row says, and the paragraphs of its document (None: it has none)."""

    id: str
    title: str
    published: str
    paragraphs: Sequence[str] | None
    kind: str = "法律"
    effective: str = ""
    status: int = 3
    issuer: str = "全国人民代表大会常务委员会"


class FlkLibrary(Flk):
    """The database with some laws: the list page by page, and each document behind an address that it gives out."""

    host: str = ""
    """The address under which documents are had."""

    def __init__(self, laws: Sequence[FlkLaw]) -> None:
        self.laws = list(laws)
        self.refusals: list[Answer] = []
        """What is answered instead, to so many requests that come next."""

    def answer(self, seen: Seen) -> Answer:
        if self.refusals:
            return self.refusals.pop(0)
        if (seen.method, seen.path) == ("POST", PATH):
            return self._listed(seen.json)
        if (seen.method, seen.path) == ("GET", DOWNLOAD_PATH):
            law = next((law for law in self.laws if law.id == seen.params.get("bbbs")), None)
            known = law is not None and law.paragraphs is not None and seen.params.get("format") == "docx"
            data = {"url": f"{self.host}/prod/{law.id}.docx?Expires=1"} if law and known else None
            return Answer({"code": 200, "msg": "操作成功", "data": data})
        for law in self.laws:
            if seen.path == f"/prod/{law.id}.docx" and law.paragraphs is not None:
                return Answer(_docx(law.paragraphs), headers={"Content-Type": DOCX})
        return Answer({"code": 404, "msg": "Not Found"}, 404)

    def _listed(self, body: dict[str, Any]) -> Answer:
        if body.get("searchRange") not in (1, 2) or body.get("pageSize") not in PAGE_SIZES:
            return Answer({"code": 500, "msg": "系统异常"})
        first, last = body["gbrq"] or ("", "9999")
        found = [law for law in self.laws if first <= law.published <= last]
        start = (body["pageNum"] - 1) * body["pageSize"]
        rows = [
            {
                "bbbs": law.id,
                "title": f"<em class='highlight'>{law.title}</em>",
                "gbrq": law.published,
                "sxrq": law.effective or None,
                "sxx": law.status,
                "zdjgName": law.issuer,
                "flxz": law.kind,
            }
            for law in found[start : start + body["pageSize"]]
        ]
        return Answer({"code": 200, "msg": "查询成功", "total": len(found), "rows": rows})


def _docx(paragraphs: Sequence[str]) -> bytes:
    """Return a Word document with these paragraphs."""
    body = "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
    return packed.getvalue()
