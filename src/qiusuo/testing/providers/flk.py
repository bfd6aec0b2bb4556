"""The side of 国家法律法规数据库 on the wire, as public programs show it."""

from __future__ import annotations

from typing import Any

from qiusuo.testing.server import Answer, Fault, Provider, Seen

PATH = "/law-search/search/list"
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
