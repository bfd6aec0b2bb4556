"""The real, small language model of the tests: SmolLM2 135M in a file that ``scripts/smollm2.py`` brings.

``pytestmark = real_model.marks`` in a test file: skipped loudly where the file is not there, all in one worker, with
time enough for a busy machine. The file imports ``one_thread`` too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

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
    pytest.mark.usefixtures("one_thread"),
]


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the model think in one thread: two spin while one of them waits for a core that other tests have."""
    import xllamacpp  # type: ignore[import-untyped]  # takes long, and few tests need it

    usual = xllamacpp.CommonParams

    def with_one_thread() -> Any:
        params = usual()
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        return params

    monkeypatch.setattr(xllamacpp, "CommonParams", with_one_thread)
