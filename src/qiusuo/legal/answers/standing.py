"""How a law stands on a day, and what a reader must be told about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

from qiusuo.legal.answers.addresses import address_of
from qiusuo.legal.answers.cited import BRIEF_CHARS
from qiusuo.legal.answers.results import LawDetails
from qiusuo.legal.answers.validity import Record, best_for, in_force, repealed, said_repealed, validity
from qiusuo.legal.index.store import LegalStore
from qiusuo.legal.models import Article, ArticleNumber, DateBasis, Law, LawVersion, Repeal, Validity
from qiusuo.legal.reading.editions import OLD_EDITION, Edition
from qiusuo.legal.reading.numbers import article_label
from qiusuo.legal.reading.references import LawReference
from qiusuo.text import truncate
from qiusuo.words import Fact, Language

MAX_GAPS_NAMED = 10
DATE_NOTES: Mapping[DateBasis, Fact] = MappingProxyType(
    {DateBasis.PUBLISHED: Fact("law.day_of_publication"), DateBasis.UNKNOWN: Fact("law.day_unknown")}
)
UNDATED = Fact("law.undated")
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
    ) -> LawDetails:
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
        return LawDetails(
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
                *([Fact("law.deleted")] if deleted else []),
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

    def no_text(self, law: Law, day: str, asked: Fact = OLD_EDITION) -> Fact:
        """Say that there is no text of a law, or none of the edition that was asked for (2018年的)."""
        repeal = self.store.repeals.get(law.id)
        versions = self.store.versions_of(law.id)
        if versions:
            days = [version.published or UNDATED for version in versions]
            return Fact("law.no_edition", law=law.name, edition=asked, days=days)
        if repeal is None:
            return Fact("law.no_text", law=law.name)
        return Fact("law.gone_no_text", law=law.name, how=self._how_gone(law, repeal, day))

    def before_its_time(self, version: LawVersion, edition: Edition) -> list[Fact]:
        """Say of a text that was published at the time that was asked for, and did not hold yet, since when it does."""
        then = edition.last_day
        if not then or version.effective <= then:
            return []
        held = in_force(self.store.versions_of(version.law.id), then)
        known = {
            "law": version.law.name,
            "published": version.published,
            "effective": version.effective,
            "time": edition.time,
        }
        if held is None:
            return [Fact("law.before_its_time_unheld", **known)]
        return [Fact("law.before_its_time", **known, current=held.published)]

    def gone(self, law: Law, day: str) -> Fact:
        """Say of a law that a question names, and of which there is no text, how it stands."""
        repeal = self.store.repeals.get(law.id)
        how = self._how_gone(law, repeal, day) if repeal else Fact("law.how_no_text")
        return Fact("law.gone_others", law=law.name, how=how)

    def _how_gone(self, law: Law, repeal: Repeal, day: str) -> Fact:
        date, successor = repeal.date or UNDATED, repeal.successor
        if repealed(repeal, day):
            return Fact("law.how_repealed", date=date, successor=successor)
        begun = self._known_to_begin(law)
        if day < begun:
            code = "law.how_not_begun"
        else:
            code = "law.how_in_force_then" if begun else "law.how_perhaps_in_force_then"
        return Fact(code, day=day, date=date, successor=successor)

    def no_article(self, version: LawVersion, reference: LawReference) -> Fact:
        """Say that a version does not have the article that was asked for."""
        gaps = self.missing(version, reference)
        if gaps:
            return gaps[0]
        first, last = self.store.numbers(version)
        asked = article_label(reference.number) + (f"至{article_label(reference.last)}" if reference.last else "")
        known = {"law": version.law.name, "published": version.published or UNDATED, "numbers": asked}
        if not last:
            return Fact("law.no_numbers_at_all", **known)
        return Fact("law.no_such_number", **known, first=first, last=last)

    def missing(self, version: LawVersion, reference: LawReference) -> list[Fact]:
        """Say which of the articles that were asked for the source has lost: their numbers lie between others."""
        if reference.number.suffix and reference.last is None:
            return []
        gaps = self.store.gaps(version, reference.number.number, (reference.last or reference.number).number)
        if not gaps:
            return []
        labels = [article_label(ArticleNumber(number)) for number in gaps[:MAX_GAPS_NAMED]]
        known = {"law": version.law.name, "published": version.published or UNDATED, "numbers": labels}
        if len(gaps) <= MAX_GAPS_NAMED:
            return [Fact("law.lost", **known)]
        return [Fact("law.lost_many", **known, count=len(gaps))]

    def few_in_force(self, day: str) -> tuple[Fact, ...]:
        """Say where the index holds, for many of its laws, no text that is as old as a day."""
        versions = self.store.versions.values()
        held = len({version.law.id for version in versions})
        begun = len({version.law.id for version in versions if version.effective <= day})
        if begun >= held * ENOUGH_IN_FORCE:
            return ()
        return (Fact("law.few_in_force", held=held, begun=begun, day=day),)

    def _without_text(self, law: Law, day: str) -> LawDetails:
        repeal = self.store.repeals.get(law.id)
        status, successor = "", ""
        if repeal is not None and repealed(repeal, day):
            status, successor = Validity.REPEALED.value, repeal.successor
        elif repeal is not None:
            status = (Validity.NOT_YET if day < self._known_to_begin(law) else Validity.IN_FORCE).value
        note = self.no_text(law, day).text(Language.CHINESE)  # it stands where the words of the law would
        return LawDetails(law.name, "", note, "", "", status=status, successor=successor, url=address_of(law.name))

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


def _status_notes(version: LawVersion, record: Record, state: Validity, day: str) -> list[Fact]:
    current, repeal = in_force(record.versions, day), record.repeal
    if state is Validity.NOT_YET:
        return [_not_yet(version, current, day)]
    if state is Validity.REPEALED and repeal is not None:
        known = {"law": version.law.name, "successor": repeal.successor}
        return [Fact("law.repealed_since", **known, date=repeal.date) if repeal.date else Fact("law.repealed", **known)]
    if repeal is None and said_repealed(version):
        certain = state is Validity.REPEALED
        return [Fact("law.repealed_they_say") if certain else Fact("law.repealed_some_day", day=day)]
    if state is Validity.AMENDED:
        if current is not None and current.id != version.id:
            return [Fact("law.newer_version", published=current.published, effective=current.effective)]
        return [] if record.amendments else [Fact("law.amended_later")]
    coming = [other for other in record.versions if other.effective > day]
    notes = [Fact("law.version_to_come", published=other.published, effective=other.effective) for other in coming]
    if repeal is not None:
        notes.append(Fact("law.repeal_to_come", date=repeal.date, successor=repeal.successor))
    return notes


def _not_yet(version: LawVersion, current: LawVersion | None, day: str) -> Fact:
    known = {"effective": version.effective, "day": day}
    if current is not None:
        return Fact("law.not_yet_current", **known, current=current.published)
    if version.published <= day:
        return Fact("law.not_yet_first", **known)
    return Fact("law.not_yet_published", **known, published=version.published)


def _amendment_notes(begun: list[LawVersion], changes: list[Article] | None) -> list[Fact]:
    """Tell of the amendments in force that a text does not hold: what they make of an article, where it is known."""
    if not begun:
        return []
    if not changes:
        named = [Fact("law.amendment", law=one.law.name, effective=one.effective) for one in begun]
        together = reduce(lambda one, other: Fact("law.both", one=one, other=other), named)
        return [Fact("law.amended_by" if changes is None else "law.untouched_by", amendments=together)]
    return [
        Fact(
            "law.article_amended_by",
            law=item.version.law.name,
            number=label_of(item),
            effective=item.version.effective,
        )
        for item in changes
    ]


def _date_notes(version: LawVersion) -> list[Fact]:
    note = DATE_NOTES.get(version.basis)
    return [note] if note else []
