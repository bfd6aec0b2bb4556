"""How well the support check tells sentences that a source supports from those that it does not.

``python -m eval.citations`` prints precision, recall and F1. The pairs are written by us: ``tune.jsonl`` was used to
set thresholds and word lists, ``held_out.jsonl`` was set aside before that and shares no source with it.
"""
