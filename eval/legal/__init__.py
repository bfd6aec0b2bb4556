"""Quality and speed of legal search on labelled data; run ``python -m eval.legal``."""
