"""Run a program beside another: the first in silence, the second as ever; what the first has said comes at the end.

python scripts/beside.py PROGRAM [ARGUMENT…] -- PROGRAM [ARGUMENT…]

The exit code is that of the second, or that of the first where only the first has failed.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence


def both(silent: Sequence[str], shown: Sequence[str]) -> int:
    """Run both; return the exit code of the two."""
    with tempfile.TemporaryFile() as said:  # a pipe that nobody reads would fill up
        beside = subprocess.Popen(silent, stdout=said, stderr=subprocess.STDOUT)
        print(shlex.join(shown), flush=True)
        ahead = subprocess.Popen(shown)
        # The keyboard stops both, and each tidies up in its own time.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = ahead.wait()
        print(f"\n{shlex.join(silent)}", flush=True)
        beside_code = beside.wait()
        signal.signal(signal.SIGINT, before)
        said.seek(0)
        print(said.read().decode("utf-8", "replace"), end="", flush=True)
    return code or beside_code


def main(words: Sequence[str]) -> int:
    """Take the two programs apart."""
    if "--" not in words:
        print(__doc__, file=sys.stderr)
        return 2
    cut = words.index("--")
    return both(words[:cut], words[cut + 1 :])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
