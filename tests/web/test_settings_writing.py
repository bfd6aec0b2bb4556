"""The configuration file as it is written: whole, in one step, with everything else left as it was."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from qiusuo.config.editing import UNSET, changed, edited
from qiusuo.config.files import parsed
from qiusuo.config.writing import ConfigFile
from qiusuo.errors import ConfigurationError
from qiusuo.web.settings.names import Wrong, read_name
from qiusuo.web.settings.versions import changed_since, version_of

TOML = """# my settings
model = "ollama:qwen3"  # the small one
mystery = 1  # of a later version

[engines.tavily]  # paid
api_key = "old"
search_depth = "advanced"

# not used now
[engines.brave]
monthly_quota = 5

[other."a.b"]
x = [1, 2]
"""
YAML = """# my settings
model: ollama:qwen3  # the small one
mystery: 1
engines:
  tavily:  # paid
    api_key: old
    search_depth: advanced
  # not used now
  brave:
    monthly_quota: 5
other:
  a.b:
    x:
      - 1
      - 2  # two
"""
JSON = json.dumps(yaml.safe_load(YAML), indent=4)
TEXTS = {".toml": TOML, ".yaml": YAML, ".json": JSON}
KINDS = pytest.mark.parametrize("kind", list(TEXTS))
CHANGES: dict[tuple[str, ...], Any] = {
    ("model",): "deepseek:deepseek-chat",
    ("timeout",): 2.5,
    ("provider_priority",): ["tavily", "brave"],
    ("engines", "tavily", "api_key"): "new",
    ("engines", "tavily", "monthly_quota"): 1000,
    ("engines", "exa", "api_key"): "exa",
    ("models", "gpt-5.5", "model"): "openai:gpt-5.5",
    ("engines", "brave", "monthly_quota"): UNSET,
}


def nothing(_values: Mapping[str, Any]) -> None:
    """Refuse nothing."""


def write(file: ConfigFile, changes: dict[tuple[str, ...], Any]) -> dict[str, Any]:
    return file.change(lambda _values: changes, nothing)


class TestText:
    @KINDS
    def test_only_what_is_changed_is_different(self, kind: str) -> None:
        path = Path(f"config{kind}")
        new = edited(path, TEXTS[kind], CHANGES)
        expected = changed(parsed(path, TEXTS[kind]), CHANGES)
        assert {**parsed(path, new)} == expected
        for comment in ("# my settings", "# the small one", "# paid", "# not used now", "# two"):
            assert (comment in new) == (comment in TEXTS[kind])

    def test_a_new_value_stands_before_the_comment_of_the_next_table(self) -> None:
        new = edited(Path("c.toml"), TOML, {("engines", "tavily", "monthly_quota"): 7})
        assert 'search_depth = "advanced"\nmonthly_quota = 7\n\n# not used now\n[engines.brave]' in new

    @pytest.mark.parametrize(
        "text",
        [
            'engines.tavily.api_key = "x"\nmodel = "y"\n',
            'engines = {tavily = {api_key = "x"}}\n',
            '[engines]\ntavily.api_key = "x"\n',
            "[engines.tavily]\r\na = 1\r\n",
            '[engines.tavily]\napi_key = "x"\n[other]\nb = 1\n[engines.brave]\nmonthly_quota = 1\n',
            "",
            "# nothing yet",
        ],
    )
    def test_every_way_to_write_toml(self, text: str) -> None:
        for keys, value in CHANGES.items():
            new = edited(Path("c.toml"), text, {keys: value})
            assert tomllib.loads(new).get("model") == (
                "deepseek:deepseek-chat" if keys == ("model",) else tomllib.loads(text).get("model")
            )

    def test_what_cannot_be_done_alone_is_left_to_an_editor(self) -> None:
        shared = "a: &a {api_key: x}\nengines: {tavily: *a, brave: *a}\n"
        with pytest.raises(ConfigurationError) as caught:
            edited(Path("c.yaml"), shared, {("engines", "tavily", "api_key"): "new"})
        assert caught.value.fact.code == "settings.by_hand"

    def test_texts_that_look_like_something_else_stay_texts(self) -> None:
        for text in (
            "on",
            "12:30",
            "1_000",
            "null",
            "~",
            "0x10",
            "a\n[b]\nc = 1",
            '"""',
            "'''",
            "# no comment",
            "é\\u0000",
        ):
            for kind, before in TEXTS.items():
                path = Path(f"config{kind}")
                new = edited(path, before, {("model",): text})
                assert parsed(path, new) == {**parsed(path, before), "model": text}


NAMES = ("model", "timeout", "max_results", "hedge_paid", "regulation_sites", "language", "model_api_key",
         "engines.tavily.api_key", "engines.tavily.monthly_quota", "engines.exa.base_url", "models.a.b.model",
         "second_model", "tokens", "searxng_url", "depth", "__proto__", "engines.__proto__.api_key",
         "models.__proto__.model", "models.x].model", "web_search.api_key", "engines", "constructor")  # fmt: skip
ODD = st.text() | st.sampled_from(["sk-1\nmodel = 'x'", "\x00", "x" * 100_000, "\u202eabc", "http://a b", "nan", " a "])
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | ODD
    | st.lists(ODD, max_size=4) | st.dictionaries(st.text(), ODD, max_size=2)
)  # fmt: skip


class TestWhateverIsAccepted:
    @example("timeout", 1e-09, ".yaml")
    @given(st.sampled_from(NAMES), VALUES, st.sampled_from(list(TEXTS)))
    def test_is_read_back_equal_and_changes_nothing_else(self, text: str, value: Any, kind: str) -> None:
        try:
            name = read_name(text)
            taken = name.checked(value)
        except Wrong:
            return
        given_ = value.strip() if isinstance(value, str) else value
        assert taken == ([each.strip() for each in value] if isinstance(value, list) else given_)
        path = Path(f"config{kind}")
        before = parsed(path, TEXTS[kind])
        after = parsed(path, edited(path, TEXTS[kind], {name.keys: taken}))
        assert after == changed(before, {name.keys: taken})
        assert changed(after, {name.keys: UNSET}) | {"models": 0} == changed(before, {name.keys: UNSET}) | {"models": 0}


class TestFile:
    @KINDS
    def test_it_is_made_for_its_owner_alone(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "new" / f"config{kind}"
        assert write(ConfigFile(path), {("model",): "x"}) == {"model": "x"}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert {each.name for each in path.parent.iterdir()} == {path.name, f".{path.name}.lock"}

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400])
    def test_its_mode_stays(self, tmp_path: Path, mode: int) -> None:
        path = tmp_path / "config.toml"
        path.write_text(TOML)
        path.chmod(mode)
        write(ConfigFile(path), {("model",): "x"})
        assert stat.S_IMODE(path.stat().st_mode) == mode

    def test_a_link_is_followed(self, tmp_path: Path) -> None:
        real, link = tmp_path / "real" / "mine.toml", tmp_path / "config.toml"
        real.parent.mkdir()
        real.write_text(TOML)
        link.symlink_to(real)
        write(ConfigFile(link), {("model",): "x"})
        assert link.is_symlink()
        assert tomllib.loads(real.read_text())["model"] == "x"

    def test_a_broken_file_is_told_and_left(self, tmp_path: Path) -> None:
        path = tmp_path / "config.toml"
        path.write_text("model = \n")
        with pytest.raises(ConfigurationError) as caught:
            write(ConfigFile(path), {("model",): "x"})
        assert caught.value.fact.code == "settings.file_not_parsed"
        assert path.read_text() == "model = \n"

    def test_what_the_check_refuses_is_not_written(self, tmp_path: Path) -> None:
        path = tmp_path / "config.toml"
        path.write_text(TOML)

        def refuse(values: Mapping[str, Any]) -> None:
            assert values["model"] == "x", "it sees what would be written"
            raise ConfigurationError("no")

        with pytest.raises(ConfigurationError):
            ConfigFile(path).change(lambda _values: {("model",): "x"}, refuse)
        assert path.read_text() == TOML

    def test_two_writers_lose_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "config.toml"
        names = [[f"name{number}_{each}" for each in range(10)] for number in range(4)]

        def work(mine: list[str]) -> None:
            for name in mine:
                write(ConfigFile(path), {(name,): 1})

        threads = [threading.Thread(target=work, args=(mine,)) for mine in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(tomllib.loads(path.read_text())) == {name for mine in names for name in mine}

    def test_who_waits_too_long_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "config.toml"
        with ConfigFile(path)._locked(), pytest.raises(ConfigurationError) as caught:
            write(ConfigFile(path, patience=0.05), {("model",): "x"})
        assert caught.value.fact.code == "settings.file_busy"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_that_cannot_be_written(self, tmp_path: Path) -> None:
        path = tmp_path / "config.toml"
        path.write_text(TOML)
        tmp_path.chmod(0o500)
        try:
            assert not ConfigFile(path).writable
            with pytest.raises(ConfigurationError) as caught:
                write(ConfigFile(path), {("model",): "x"})
            assert caught.value.fact.code == "settings.file_unwritable"
        finally:
            tmp_path.chmod(0o700)

    def test_kill_9_at_any_moment_leaves_a_whole_file(self, tmp_path: Path) -> None:
        path = tmp_path / "config.json"
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", KILLING, str(path)], capture_output=True, text=True, timeout=100, check=False
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["broken_off"] > 0, "some were killed in the middle of writing"
        assert told["left"] == [".config.json.lock", "config.json"], "what was left is cleared away"


KILLING = """
import json, os, signal, sys, time
from pathlib import Path
from qiusuo.config.writing import ConfigFile

path = Path(sys.argv[1])

def save(number):
    changes = {("number",): number, ("text",): str(number % 10) * 300_000}
    ConfigFile(path).change(lambda values: changes, lambda values: None)

save(0)
broken_off = 0
for turn in range(400):
    if turn >= 40 and broken_off:
        break  # on a busy machine it takes more of them
    child = os.fork()
    if child == 0:
        number = turn * 1000
        while True:
            number += 1
            save(number)
    time.sleep(0.003 + turn % 40 * 0.0011)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    broken_off += len(list(path.parent.glob(".*.new")))
    values = json.loads(path.read_text())
    assert values["text"] == str(values["number"] % 10) * 300_000, values["number"]
    assert path.stat().st_mode & 0o777 == 0o600
save(1)
print(json.dumps({"broken_off": broken_off, "left": sorted(each.name for each in path.parent.iterdir())}))
"""


class TestVersions:
    def test_they_tell_which_values_are_different(self) -> None:
        salt = b"s" * 32
        before = {"model": "a", "engines": {"tavily": {"api_key": "k", "quota": 1}}}
        version = version_of(before, salt)
        after = {"model": "b", "engines": {"tavily": {"api_key": "k"}}, "new": 1}
        assert changed_since(version, after, ("model",), salt)
        assert changed_since(version, after, ("engines", "tavily", "quota"), salt)
        assert changed_since(version, after, ("new",), salt)
        assert not changed_since(version, after, ("engines", "tavily", "api_key"), salt)
        assert not changed_since(version, after, ("absent",), salt)
        assert not changed_since(version, before, ("engines", "tavily"), salt)
        assert changed_since("no version", before, ("model",), salt)
