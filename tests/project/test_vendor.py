"""What the page takes from others is what the lockfile says, with its licences; and the page's own code is typed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from qiusuo.web.static.page import FOLDER
from qiusuo.web.static.words import OWN_NOTICES, ROOMS, words_modules
from qiusuo.words.catalogue import codes

VENDOR = Path(__file__).parents[2] / "scripts" / "vendor"
TSC = VENDOR / "node_modules" / ".bin" / "tsc"
READY = shutil.which("node") is not None and TSC.exists()
with_node = pytest.mark.skipif(
    not READY, reason="NO NODE, NOT TESTED: install npm, then 'npm ci' in scripts/vendor (scripts/setup.py --test does)"
)
MOST_LINES = 400


# The chat page's, and what the board alone loads.
BUNDLES = {"": {"preact", "htm", "markdown-it", "dompurify"}, "board": {"uplot"}}
in_each_bundle = pytest.mark.parametrize("bundle", list(BUNDLES))


def made(bundle: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((FOLDER / bundle / "vendor.json").read_text(encoding="utf-8"))
    return found


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=VENDOR, capture_output=True, text=True, check=False)  # noqa: S603 - our own


@in_each_bundle
def test_the_file_is_the_one_that_was_built(bundle: str) -> None:
    assert sha256((FOLDER / bundle / "vendor.js").read_bytes()).hexdigest() == made(bundle)["sha256"]


@in_each_bundle
def test_the_versions_are_those_of_the_lockfile(bundle: str) -> None:
    lock = json.loads((VENDOR / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    packages = made(bundle)["packages"]
    assert isinstance(packages, dict)
    assert set(packages) >= BUNDLES[bundle]
    for name, version in packages.items():
        assert lock[f"node_modules/{name}"]["version"] == version
    wanted = json.loads((VENDOR / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values()), "versions are exact"


@in_each_bundle
def test_every_licence_is_there(bundle: str) -> None:
    text = (FOLDER / bundle / "vendor-licenses.txt").read_text(encoding="utf-8")
    packages = made(bundle)["packages"]
    assert isinstance(packages, dict)
    for name, version in packages.items():
        head = rf"^{re.escape(name)} {re.escape(version)} \(.*?\)\n"
        part = re.search(rf"{head}(.*?)(?=^={{80}}|\Z)", text, re.MULTILINE | re.DOTALL)
        assert part, name
        assert len(part[1]) > 500, f"{name}: the text of the licence is missing"


def test_modules_are_small_and_take_nothing_from_elsewhere() -> None:
    own = [path for path in FOLDER.rglob("*.js") if path.name != "vendor.js"]
    assert len(own) > 20
    for path in own:
        source = path.read_text(encoding="utf-8")
        assert source.count("\n") < MOST_LINES, path
        assert not re.search(r"\beval\(|new Function|insertAdjacentHTML|outerHTML|document\.write", source), path
        assert "innerHTML" not in source, f"{path}: text is put in as text, Markdown through DOMPurify"
        assert "dangerouslySetInnerHTML" not in source, path
        for target in re.findall(r'^import .*?from "([^"]+)"', source, re.MULTILINE):
            assert target.startswith(("./", "../")), f"{path}: {target}"


def test_styles_load_nothing() -> None:
    for path in FOLDER.rglob("*.css"):
        assert not re.search(r"url\(|@import", path.read_text(encoding="utf-8")), path
        assert path.read_text(encoding="utf-8").count("\n") < 420, path


@pytest.mark.programs
@with_node
def test_the_page_is_typed_also_in_the_keys_of_its_words(tmp_path: Path) -> None:
    """The words are made by the server: laid beside the other modules for the check."""
    for name, words in words_modules().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(words)
    config = json.loads((VENDOR / "tsconfig.json").read_text(encoding="utf-8"))
    whole = {
        "extends": str(VENDOR / "tsconfig.json"),
        "compilerOptions": {"rootDirs": [str(FOLDER), str(tmp_path)]},
        "include": [*(str(VENDOR / each) for each in config["include"]), str(tmp_path / "**" / "*.js")],
        "exclude": [str(VENDOR / each) for each in config["exclude"]],
    }
    (tmp_path / "tsconfig.json").write_text(json.dumps(whole), encoding="utf-8")
    checked = run(str(TSC), "-p", str(tmp_path))
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_every_word_of_the_page_is_used_and_none_is_missing(room: str) -> None:
    """What says a room's own words is called ``tr`` there, beside the page's ``t``."""
    files = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*.js") if path.name != "vendor.js"}
    mine = [path for name, path in files.items() if not room or name.startswith(f"{room}/")]
    sources = "".join(path.read_text(encoding="utf-8") for path in mine)
    prefix, says = (ROOMS[room], "tr") if room else ("page", "t")
    known = {code.removeprefix(f"{prefix}.") for code in codes() if code.startswith(f"{prefix}.")} - {"needsScript"}
    assert set(re.findall(rf'\b{says}\("(\w+)"', sources)) - known == set()
    assert [word for word in sorted(known) if f'"{word}"' not in sources] == []
    if not room:
        assert [code for code in OWN_NOTICES if f'"{code}"' not in sources] == []


def test_the_words_are_those_of_the_catalogue() -> None:
    modules = {name: body.decode() for name, body in words_modules().items()}
    tables = {
        language: {
            name: json.loads(table)
            for name, table in re.findall(
                r"^export const (\w+) = (.*?);$", modules[f"words/{language}.js"], re.DOTALL | re.MULTILINE
            )
        }
        for language in ("zh", "zh-Hant", "en")
    }
    assert [table["WORDS"]["send"] for table in tables.values()] == ["发送", "傳送", "Send"]
    assert "{engine}" in tables["zh"]["WORDS"]["searchAbout"], "the page fills it in"
    assert [table["NOTICES"]["lost_turn"]["title"] for table in tables.values()][:2] == ["没有送达", "沒有送達"]
    assert [name for name, _, _ in tables["en"]["LANGUAGES"]] == ["zh", "zh-Hant", "en"]
    assert not [name for name, module in modules.items() if "{{" in module], "the page knows no such braces"


@pytest.mark.programs
@with_node
def test_building_again_gives_the_same_file(tmp_path: Path) -> None:
    built = run("node", "build.js", str(tmp_path))
    assert built.returncode == 0, built.stderr
    for name in ("vendor.js", "board/vendor.js", "board/uplot.css"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
