"""What an article cites, in brief: articles by their number, and its surroundings (前款, 前条, 本章)."""

from __future__ import annotations

from collections.abc import Iterator

from qiusuo.legal.answers.results import CitedArticle
from qiusuo.legal.answers.validity import best_for
from qiusuo.legal.index.store import LegalStore
from qiusuo.legal.models import Article, LawKind, LawVersion
from qiusuo.legal.reading.numbers import article_label, han_of
from qiusuo.legal.reading.paragraphs import paragraphs_of, pieces_of
from qiusuo.legal.reading.relative import RelativeReference, RelativeTarget, relative_references
from qiusuo.text import truncate

MAX_CITED = 8
BRIEF_CHARS = 80
# They quote the text of another law, whose paragraphs are meant.
_QUOTING = frozenset({LawKind.AMENDMENT, LawKind.AMENDING_DECISION})


def cited_articles(store: LegalStore, article: Article, day: str) -> tuple[CitedArticle, ...]:
    """Return what an article cites, articles of other places first; laws as they stand on a day."""
    found: dict[tuple[str, str], CitedArticle] = {}
    for cited in (*_by_number(store, article, day), *_by_place(store, article)):
        found.setdefault((cited.law_name, cited.article_number), cited)
    return tuple(found.values())[:MAX_CITED]


def _by_number(store: LegalStore, article: Article, day: str) -> Iterator[CitedArticle]:
    for law_id, name, number in store.cited(article.id, MAX_CITED * 2):
        law = store.laws.get(law_id) if law_id is not None else None
        label = article_label(number)
        if law is not None and law.id == article.version.law.id:
            version: LawVersion | None = article.version
        else:
            version = best_for(store.versions_of(law.id), day) if law else None
        texts = store.articles(version, number) if version else []
        shown = law.name if law else name
        if (shown, label) != (article.version.law.name, article.label):
            yield CitedArticle(shown, label, _brief(texts[0].text) if texts else "")


def _by_place(store: LegalStore, article: Article) -> Iterator[CitedArticle]:
    if article.number is None or article.version.law.kind in _QUOTING:
        return
    law = article.version.law.name
    for reference in relative_references(article.text):
        if reference.target is RelativeTarget.PART:
            place = _part(store, article, reference.words[-1])
            if place is not None:
                yield CitedArticle(law, place[0], place[1], reference.words)
        elif reference.target is RelativeTarget.ARTICLES:
            for earlier in store.before(article, reference.numbers[0]):
                piece = pieces_of(earlier.text, reference.paragraphs, reference.items).text
                label = article_label(earlier.number) if earlier.number else earlier.label
                where = label + _places("款", reference.paragraphs) + _places("项", reference.items)
                yield CitedArticle(law, where, _brief(piece or earlier.text), reference.words)
        else:
            yield from _of_this_article(law, article, reference)


def _of_this_article(law: str, article: Article, reference: RelativeReference) -> Iterator[CitedArticle]:
    paragraphs, label = paragraphs_of(article.text), article_label(article.number) if article.number else article.label
    within = reference.numbers if reference.target is RelativeTarget.PARAGRAPHS else (reference.paragraph,)
    items = reference.items if reference.target is RelativeTarget.PARAGRAPHS else reference.numbers
    for place in within:
        if place > len(paragraphs):
            continue
        paragraph = paragraphs[place - 1]
        text = "\n".join(paragraph.items[item] for item in items if item in paragraph.items) or paragraph.text
        where = f"{label}第{han_of(place)}款{_places('项', items)}"
        yield CitedArticle(law, where, _brief(text), reference.words)


def _part(store: LegalStore, article: Article, unit: str) -> tuple[str, str] | None:
    """Return the part, chapter or section of an article: its articles, and its title."""
    for depth, heading in enumerate(article.headings, 1):
        if unit in heading.partition(" ")[0]:
            first, last = store.span_around(article, depth)
            return f"{article_label(first)}至{article_label(last)}", heading
    return None


def _places(unit: str, numbers: tuple[int, ...]) -> str:
    return "、".join(f"第{han_of(number)}{unit}" for number in numbers)


def _brief(text: str) -> str:
    return truncate(text.replace("\n", " "), BRIEF_CHARS)
