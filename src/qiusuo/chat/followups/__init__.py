"""Follow-up questions: what a question means by itself, after what was said before it."""

from qiusuo.chat.followups.model import Exchange, Resolved
from qiusuo.chat.followups.resolving import leans_on_what_was_said, resolve

__all__ = ["Exchange", "Resolved", "leans_on_what_was_said", "resolve"]
