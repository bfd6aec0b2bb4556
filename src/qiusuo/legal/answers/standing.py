"""How a law stands on a day, and what a reader must be told about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from qiusuo.legal.answers.addresses import address_of
from qiusuo.legal.answers.cited import BRIEF_CHARS
from qiusuo.legal.answers.results import RegulationResult
from qiusuo.legal.answers.validity import Record, best_for, in_force, repealed, said_repealed, validity
from qiusuo.legal.index.store import LegalStore
from qiusuo.legal.models import Article, ArticleNumber, DateBasis, Law, LawVersion, Repeal, Validity
from qiusuo.legal.reading.editions import Edition
from qiusuo.legal.reading.numbers import article_label
from qiusuo.legal.reading.references import Reference
from qiusuo.text import truncate

MAX_GAPS_NAMED = 10
DATE_NOTES: Mapping[DateBasis, str] = MappingProxyType(
    {
        DateBasis.PUBLISHED: "来源未给出本版本的施行日期，以公布日期代替。",
        DateBasis.UNKNOWN: "来源未给出版本日期。",
    }
)
# Its number stays, so that the others keep theirs: （删去）.
_DELETED = re.compile(r"\W*(?:本条)?(?:已|被){0,2}(?:删去|删除|废止)\W*$")
# With a smaller share of the index's laws begun by a day, a search by words is told to be patchy.
ENOUGH_IN_FORCE = 0.75


@dataclass(frozen=True, slots=True)
class Standing:
    """Tells it from one store."""

    store: LegalStore

    def law_result(
        self, law: Law, day: str, *, version: LawVersion | None = None, article: Article | None = None
    ) -> RegulationResult:
        """Return a law as it is shown; with an article, as far as that article is concerned."""
        versions = self.store.versions_of(law.id)
        version = version or best_for(versions, day)
        repeal = self.store.repeals.get(law.id)
        if version is None:
            return self._without_text(law, day)
        record = Record(versions, repeal, self._later_amendments(version), self.store.source_days[version.source])
        begun = self._begun(version, record.amendments, day)
        changes = self._changes(begun, law, article.number if article else None)
        state = validity(version, record, day, touched=changes != [])
        deleted = article is not None and bool(_DELETED.match(article.text))
        status = Validity.REPEALED if deleted and state in {Validity.IN_FORCE, Validity.AMENDED} else state
        opening = self.store.opening(version)
        span = f"共 {version.article_count} 条。" if version.article_count > 1 else ""
        return RegulationResult(
            law_name=law.name,
            article_number="",
            content=span + (truncate(opening.text, BRIEF_CHARS * 2) if opening else ""),
            effective_date=version.effective,
            source=version.source,
            status=status.value,
            version=version.published,
            url=address_of(law.name, "", version),
            successor=repeal.successor if repeal and state is Validity.REPEALED else "",
            notes=(
                *(["本条已删去。"] if deleted else []),
                *_date_notes(version),
                *_status_notes(version, record, state, day),
                *_amendment_notes(begun, changes),
            ),
            date_basis=version.basis,
        )

    def changes_of(self, article: Article, day: str) -> list[Article]:
        """Return the items of later amendments, in force on a day, that change an article of a text."""
        version = article.version
        begun = self._begun(version, self._later_amendments(version), day)
        return self._changes(begun, version.law, article.number) or []

    def _begun(self, version: LawVersion, amendments: Sequence[LawVersion], day: str) -> list[LawVersion]:
        # A newer text tells more than the amendments that led to it.
        newest = in_force(self.store.versions_of(version.law.id), day) is version
        return [amendment for amendment in amendments if newest and amendment.effective <= day]

    def no_text(self, law: Law, day: str, asked: str = "") -> str:
        """Say that there is no text of a law, or none of the edition that was asked for (2018年的)."""
        repeal = self.store.repeals.get(law.id)
        versions = self.store.versions_of(law.id)
        if versions:
            days = "、".join(version.published or "日期不详" for version in versions)
            return f"索引中没有《{law.name}》{asked}版本，已有：{days}。"
        if repeal is None:
            return f"索引中没有《{law.name}》的条文。"
        return f"《{law.name}》{self._how_gone(law, repeal, day)}；索引中没有它的条文，未用其他法律的条文代替。"

    def before_its_time(self, version: LawVersion, edition: Edition) -> list[str]:
        """Say of a text that was published at the time that was asked for, and did not hold yet, since when it does."""
        then = edition.last_day
        if not then or version.effective <= then:
            return []
        held = in_force(self.store.versions_of(version.law.id), then)
        time = edition.day or f"{edition.year}年"
        real = f"{time}有效的是 {held.published} 公布的版本" if held else f"{time}有效的文本不在索引中"
        return [f"《{version.law.name}》{version.published} 公布的版本自 {version.effective} 起施行；{real}。"]

    def gone(self, law: Law, day: str) -> str:
        """Say of a law that a question names, and of which there is no text, how it stands."""
        repeal = self.store.repeals.get(law.id)
        how = self._how_gone(law, repeal, day) if repeal else "在索引中没有条文"
        return f"《{law.name}》{how}；所列是其他法律的条文。"

    def _how_gone(self, law: Law, repeal: Repeal, day: str) -> str:
        replaced = f"由《{repeal.successor}》取代"
        if repealed(repeal, day):
            return f"{Validity.REPEALED}（{repeal.date or '日期不详'}），{replaced}"
        if day < self._known_to_begin(law):
            return f"{day} 尚未施行（自 {repeal.date} 起废止，{replaced}）"
        unsure = "" if self._known_to_begin(law) else "；何时开始施行，索引中没有"
        return f"{day} 当时有效（自 {repeal.date} 起废止，{replaced}{unsure}）"

    def no_article(self, version: LawVersion, reference: Reference) -> str:
        """Say that a version does not have the article that was asked for."""
        gaps = self.missing(version, reference)
        if gaps:
            return gaps[0]
        first, last = self.store.numbers(version)
        asked = article_label(reference.number) + (f"至{article_label(reference.last)}" if reference.last else "")
        reach = f"条文为第{first}条至第{last}条" if last else "没有编号的条文"
        return f"《{version.law.name}》（{version.published or '日期不详'}）没有{asked}；{reach}。"

    def missing(self, version: LawVersion, reference: Reference) -> list[str]:
        """Say which of the articles that were asked for the source has lost: their numbers lie between others."""
        if reference.number.suffix and reference.last is None:
            return []
        gaps = self.store.gaps(version, reference.number.number, (reference.last or reference.number).number)
        if not gaps:
            return []
        labels = "、".join(article_label(ArticleNumber(number)) for number in gaps[:MAX_GAPS_NAMED])
        more = f"等 {len(gaps)} 条" if len(gaps) > MAX_GAPS_NAMED else ""
        return [f"来源缺《{version.law.name}》（{version.published or '日期不详'}）{labels}{more}，请查官方文本。"]

    def few_in_force(self, day: str) -> tuple[str, ...]:
        """Say where the index holds, for many of its laws, no text that is as old as a day."""
        versions = self.store.versions.values()
        held = len({version.law.id for version in versions})
        begun = len({version.law.id for version in versions if version.effective <= day})
        if begun >= held * ENOUGH_IN_FORCE:
            return ()
        return (f"索引以现行文本为主：{held} 部法律中只有 {begun} 部收有 {day} 以前施行的文本，结果可能不全。",)

    def _without_text(self, law: Law, day: str) -> RegulationResult:
        repeal = self.store.repeals.get(law.id)
        status, successor = "", ""
        if repeal is not None and repealed(repeal, day):
            status, successor = Validity.REPEALED.value, repeal.successor
        elif repeal is not None:
            status = (Validity.NOT_YET if day < self._known_to_begin(law) else Validity.IN_FORCE).value
        note = self.no_text(law, day)
        return RegulationResult(
            law.name, "", note, "", "", status=status, successor=successor, url=address_of(law.name)
        )

    def _known_to_begin(self, law: Law) -> str:
        """Return the day since which a law without text is known to hold: that on which it repealed another."""
        repeals = self.store.repeals.values()
        return min((repeal.date for repeal in repeals if repeal.successor == law.name and repeal.date), default="")

    def _later_amendments(self, version: LawVersion) -> list[LawVersion]:
        """Return the amendments that a version does not hold yet; what is not dated cannot be told."""
        amendments = self.store.amendments.get(version.law.id, ())
        return [other for other in amendments if version.published and other.published > version.published]

    def _changes(self, amendments: list[LawVersion], law: Law, number: ArticleNumber | None) -> list[Article] | None:
        """Return the items that change an article; None where they may change it and it cannot be told how."""
        if number is None:
            return None
        found: list[Article] = []
        for amendment in amendments:
            items = self.store.amending_items(amendment, law, number)
            if items is None:
                return None
            found += items
        return found


def label_of(article: Article) -> str:
    """Return how an article is called; an item of an amendment (条目五) is none of the articles that it is about."""
    return article_label(article.number) if article.number and "条目" not in article.label else article.label


def _status_notes(version: LawVersion, record: Record, state: Validity, day: str) -> list[str]:
    current = in_force(record.versions, day)
    if state is Validity.NOT_YET:
        return [_not_yet(version, current, day)]
    if state is Validity.REPEALED and record.repeal is not None:
        since = f"（自 {record.repeal.date} 起）" if record.repeal.date else ""
        return [f"《{version.law.name}》已废止{since}，由《{record.repeal.successor}》取代。"]
    if record.repeal is None and said_repealed(version):
        then = "" if state is Validity.REPEALED else f"，{day} 是否已废止不详"
        return [f"来源标为已废止，未给出日期和依据{then}，请核对。"]
    if state is Validity.AMENDED:
        if current is not None and current.id != version.id:
            return [f"已有新版本（{current.published} 公布，{current.effective} 起施行）。"]
        return [] if record.amendments else ["此版本已被后来的立法修改，索引中没有修改后的文本。"]
    coming = [other for other in record.versions if other.effective > day]
    notes = [f"新版本（{other.published} 公布）自 {other.effective} 起施行。" for other in coming]
    if record.repeal is not None:
        notes.append(f"自 {record.repeal.date} 起废止，由《{record.repeal.successor}》取代。")
    return notes


def _not_yet(version: LawVersion, current: LawVersion | None, day: str) -> str:
    if current is not None:
        return f"本版本自 {version.effective} 起施行，{day} 尚未生效；当日有效的是 {current.published} 公布的版本。"
    if version.published <= day:
        return f"本版本自 {version.effective} 起施行，{day} 尚未生效；索引中没有更早的版本。"
    return f"{day} 有效的文本不在索引中；所示为 {version.published} 公布、{version.effective} 起施行的版本。"


def _amendment_notes(begun: list[LawVersion], changes: list[Article] | None) -> list[str]:
    """Tell of the amendments in force that a text does not hold: what they make of an article, where it is known."""
    if not begun:
        return []
    names = "、".join(f"《{amendment.law.name}》（{amendment.effective} 起施行）" for amendment in begun)
    if changes is None:
        return [f"此版本已被{names}修改，索引中没有合并后的文本，请一并查阅。"]
    if not changes:
        return [f"此版本之后的{names}没有提到本条。"]
    return [
        f"本条已被《{item.version.law.name}》{label_of(item)}修改"
        f"（{item.version.effective} 起施行），修改后的文字见该条。"
        for item in changes
    ]


def _date_notes(version: LawVersion) -> list[str]:
    note = DATE_NOTES.get(version.basis)
    return [note] if note else []
