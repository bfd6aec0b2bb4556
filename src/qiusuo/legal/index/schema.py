"""The tables of the store, and the versions by which a stale index is told."""

from __future__ import annotations

from typing import Final

STORE_VERSION: Final = 5
"""Changes with the tables and with what is read into them: an older store is read again from its sources."""
RANKING_VERSION: Final = 4
"""Changes with the fields, tokens or priors of ranking: an older one is built again from the store."""

TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    stamp TEXT NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    accepted INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    laws INTEGER NOT NULL DEFAULT 0,
    UNIQUE (path, stamp)
);
CREATE TABLE rejected (
    source_id INTEGER NOT NULL REFERENCES sources(id),
    position INTEGER NOT NULL,
    reason TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    PRIMARY KEY (source_id, position, reason)
) WITHOUT ROWID;
CREATE TABLE laws (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    issuer TEXT NOT NULL,
    department TEXT NOT NULL,
    cited_by INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    law_id INTEGER NOT NULL REFERENCES laws(id),
    published TEXT NOT NULL,
    effective TEXT NOT NULL,
    basis TEXT NOT NULL,
    stated_status TEXT NOT NULL,
    source_id INTEGER NOT NULL REFERENCES sources(id),
    url TEXT NOT NULL,
    UNIQUE (law_id, published)
);
CREATE TABLE articles (
    id INTEGER PRIMARY KEY,
    version_id INTEGER NOT NULL REFERENCES versions(id),
    number INTEGER NOT NULL,
    suffix INTEGER NOT NULL,
    occurrence INTEGER NOT NULL,
    label TEXT NOT NULL,
    headings TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (version_id, number, suffix, occurrence)
);
CREATE TABLE citations (
    article_id INTEGER NOT NULL REFERENCES articles(id),
    place INTEGER NOT NULL,
    law_id INTEGER,
    law_name TEXT NOT NULL,
    number INTEGER NOT NULL,
    suffix INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    last_suffix INTEGER NOT NULL,
    PRIMARY KEY (article_id, place)
) WITHOUT ROWID;
CREATE TABLE repeals (
    law_id INTEGER PRIMARY KEY REFERENCES laws(id),
    successor TEXT NOT NULL,
    date TEXT NOT NULL,
    article TEXT NOT NULL
);
CREATE TABLE amendments (
    law_id INTEGER NOT NULL REFERENCES laws(id),
    version_id INTEGER NOT NULL REFERENCES versions(id),
    PRIMARY KEY (law_id, version_id)
) WITHOUT ROWID;
CREATE TABLE amended (
    law_id INTEGER NOT NULL REFERENCES laws(id),
    number INTEGER NOT NULL,
    suffix INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    last_suffix INTEGER NOT NULL,
    article_id INTEGER NOT NULL REFERENCES articles(id),
    PRIMARY KEY (law_id, number, suffix, article_id)
) WITHOUT ROWID;
CREATE TABLE cases (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    number TEXT NOT NULL,
    number_key TEXT NOT NULL,
    name TEXT NOT NULL,
    court TEXT NOT NULL,
    case_type TEXT NOT NULL,
    procedure TEXT NOT NULL,
    date TEXT NOT NULL,
    parties TEXT NOT NULL,
    cause TEXT NOT NULL,
    legal_basis TEXT NOT NULL,
    url TEXT NOT NULL,
    source_id INTEGER NOT NULL REFERENCES sources(id)
);
-- Apart from the rest, so that a look at many judgments (titles, courts) reads few pages.
CREATE TABLE case_texts (
    case_id INTEGER PRIMARY KEY REFERENCES cases(id),
    packed BLOB NOT NULL
);
CREATE INDEX cases_by_number ON cases(number_key);
CREATE INDEX versions_by_law ON versions(law_id);
"""
