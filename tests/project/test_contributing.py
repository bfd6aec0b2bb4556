"""The contributors' guide, followed as it is written, in a copy of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import CONTRIBUTING, FENCE, ROOT, text_of

pytestmark = pytest.mark.programs
FILE = re.compile(r"# ([\w/]+\.(?:py|toml))\n")
ENGINE, CHAT, DOCTOR = "src/qiusuo/engines/acme.py", "src/qiusuo/chat/turns/beforehand.py", "src/qiusuo/doctor/run.py"
# What the guide says to run for each of its examples, and the tests that hold the words, the docs and the commands.
TESTS = (
    "tests/engines/test_acme.py",
    "tests/chat/test_long_question.py",
    "tests/doctor/test_doctor_disk.py",
    "tests/doctor/test_doctor_command.py::TestWords",
    "tests/project/test_docs.py",
    "tests/project/test_words.py",
    "tests/project/test_traditional.py",
    "tests/project/test_advised_commands.py",
)


def examples(page: str) -> list[str]:
    """Return the examples of a page but for the commands."""
    return [found[2] for found in FENCE.finditer(text_of(page)) if found[1] in {"python", "toml"}]


def example(*words: str) -> str:
    """Return the example that has these words."""
    (found,) = (text for text in examples(CONTRIBUTING[0]) if all(word in text for word in words))
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the repository."""
    folder = tmp_path / "copy"
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, text=True, check=False).stdout  # noqa: S603 - ours
    if not names:
        pytest.skip("NO GIT, NOT TESTED: which files are the repository's is not known")
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(before) == 1, f"{path}: {before}"
    path.write_text(text.replace(before, after), "utf-8")


def run(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout[-5000:]}{done.stderr[-2000:]}"


def follow(folder: Path) -> None:
    """Do what the guide says."""
    for text in examples(CONTRIBUTING[0]):
        if found := FILE.match(text):
            assert not (folder / found[1]).exists(), (
                f"{found[1]}, an example of CONTRIBUTING.md, is there now: another name for it or the example"
            )
            (folder / found[1]).write_text(text.partition("\n")[2] if found[1].endswith(".py") else text, "utf-8")
    # What the engine says of its provider's errors, and its note on the receipt.
    engine = folder / ENGINE
    engine.write_text(
        engine.read_text("utf-8").replace("from typing import", example("import HTTPStatus") + "from typing import")
        + "\n"
        + example("def classify"),
        "utf-8",
    )
    note = example("acme.old_index", "self.collect")
    edit(engine, note.splitlines()[1].replace(", notes=notes", "") + "\n", note)
    test = folder / "tests/engines/test_acme.py"
    told = (example("test_a_closed_index_is_told"), example("test_an_older_index_is_noted"))
    test.write_text("\n".join((test.read_text("utf-8"), *told)), "utf-8")
    edit(test, "from qiusuo.engines.acme", "import pytest\n\nfrom qiusuo.engines.acme")
    own = "from qiusuo.engines.base import EngineResults\nfrom qiusuo.errors import Unavailable\n"
    edit(test, "from qiusuo.models", f"{own}from qiusuo.models")
    edit(test, "import Answer, Provider", "import Answer, Fault, Provider")
    for page in ("README.md", "README.zh-CN.md"):
        edit(folder / page, "`tavily`", "`tavily`, `acme`")
    # The notice.
    notices = folder / "src/qiusuo/words/texts/notice.toml"
    notices.write_text(f"{notices.read_text('utf-8')}\n{example('[long_question]')}", "utf-8")
    first = "    journal, ask = context.journal, context.ask\n"
    edit(folder / CHAT, first, first + example("journal.notice(notice("))
    # The check of the doctor, and its heading in both guides.
    checks = folder / DOCTOR
    edit(checks, "from qiusuo.doctor.files", "from qiusuo.doctor.disk import check_disk\nfrom qiusuo.doctor.files")
    edit(checks, '    "clock": check_clock,\n', '    "clock": check_clock,\n    "disk": check_disk,\n')
    for page, guide in zip(CONTRIBUTING, ("docs/troubleshooting.md", "docs/troubleshooting.zh-CN.md"), strict=True):
        (heading,) = (found[2] for found in FENCE.finditer(text_of(page)) if found[1] == "md")
        with (folder / guide).open("a", encoding="utf-8") as file:
            file.write(f"\n{heading}\nIt is.\n")
    run(folder, "scripts/docs.py")  # make docs
    run(folder, "scripts/traditional.py")


def test_both_languages_show_the_same() -> None:
    english, chinese = map(examples, CONTRIBUTING)
    assert english == chinese


@pytest.mark.timeout(240)
def test_an_engine_a_notice_and_a_finding_of_the_doctor_are_added_as_written(copy: Path) -> None:
    follow(copy)
    run(copy, "-m", "ruff", "check", "--fix", "--select", "I", ENGINE)  # where imports stand is left to make format
    run(copy, "-m", "ruff", "format", "--check", ".")
    run(copy, "-m", "ruff", "check", ".")
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
