"""The real, small language model of the tests: SmolLM2 135M in a file that ``scripts/smollm2.py`` brings.

``pytestmark = real_model.marks`` in a test file: skipped loudly where the file is not there, all in one worker, with
time enough for a busy machine.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Read now: the tests themselves run without the machine's QIUSUO_* variables.
FILE = Path(
    os.environ.get("QIUSUO_TEST_MODEL")
    or Path(__file__).parents[2] / ".cache" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
)
MISSING = (
    f"NO REAL LANGUAGE MODEL WAS TESTED: {FILE} is not there. "
    "Run scripts/smollm2.py, or set QIUSUO_TEST_MODEL to a GGUF file."
)
SETTING = f"local:{FILE}"

marks = [
    pytest.mark.skipif(not FILE.exists(), reason=MISSING),
    pytest.mark.xdist_group("real-model"),
    pytest.mark.timeout(600),
]
