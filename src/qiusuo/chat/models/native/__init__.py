"""A model's own web search, where it has one: what it finds and cites in our own numbering."""

from __future__ import annotations

from qiusuo.chat.models.native.table import CAPABILITIES, Capability, native_search_for

__all__ = ["CAPABILITIES", "Capability", "native_search_for"]
