"""Legal search as a plug-in: all that Qiusuo knows of it is named here."""

from __future__ import annotations

from qiusuo.models import SearchType
from qiusuo.plugins import Focus, Plugin
from qiusuo.words import Fact

plugin = Plugin(
    name="legal",
    engines=(
        "qiusuo.legal.engines.laws:LawsEngine",
        "qiusuo.legal.engines.flk:FlkEngine",
    ),
    details=("qiusuo.legal.answers.results:LawDetails", "qiusuo.legal.answers.results:JudgmentDetails"),
    recognisers=("qiusuo.legal.recognising.asked:recognise",),
    focuses=(
        Focus("law", SearchType.REGULATION, Fact("law.focus")),
        Focus("cases", SearchType.CASE, Fact("law.focus_cases")),
    ),
    tools=("qiusuo.legal.tools:tools_for",),
    commands={"legal": "qiusuo.legal.commands:legal"},
    routes=("qiusuo.legal.routes:routers",),
    checks={"legal": "qiusuo.legal.checks:check_legal_index"},
    beside=("qiusuo.legal.index.background:beside",),
)
