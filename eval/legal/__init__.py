"""Quality and speed of legal search on labelled data; run ``python -m eval.legal``."""

import os

# Before numpy is loaded: its threads wait for one another at work, which would count as processor time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
