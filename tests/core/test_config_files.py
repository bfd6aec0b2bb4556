"""Files of settings: where they are looked for, what they may hold, and what is said of a broken one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from qiusuo.config import Settings
from qiusuo.config.files import MAX_FILE_BYTES, config_folder, find_config_file
from qiusuo.errors import ConfigurationError
from tests.support.settings_files import KINDS, WRITERS, write

__all__ = ["write"]  # a fixture


class TestFiles:
    @KINDS
    def test_old_and_new_fields_that_are_not_known_do_no_harm(self, kind: str, write: Callable[..., Path]) -> None:
        write({"timeout": 6, "searcher": "old", "engines": {"tavily": {"depth": "basic"}, "gone": {}}}, kind)
        settings = Settings.load()
        assert settings.timeout == 6
        assert settings.engine("tavily").model_extra == {"depth": "basic"}

    @KINDS
    def test_an_empty_file_gives_the_defaults(self, kind: str, write: Callable[..., Path]) -> None:
        write("{}" if kind == ".json" else "", kind)
        assert Settings.load().timeout == 5.0

    @pytest.mark.parametrize(
        ("kind", "content"),
        [
            (".toml", 'timeout = 7\napi_key = "tvly-s3cret'),
            (".toml", b"timeout = \xff\xfe"),
            (".toml", "timeout = " + "[" * 100_000),
            (".json", '{"timeout": 7, "api_key": "tvly-s3cret"'),
            (".json", "[" * 100_000),
            (".yaml", 'timeout: 7\napi_key: "tvly-s3cret\nx: ['),
            (".yaml", "timeout: 7\n\tapi_key: tvly-s3cret"),
            (".yaml", "timeout: 7\napi_key: tvly-s3cret: more"),
            (".yaml", "x: !!python/object/apply:os.system ['true']"),
            (".yaml", "x: \x07"),
        ],
    )
    def test_a_broken_file_is_named_and_its_secrets_are_not_quoted(
        self, kind: str, content: str | bytes, write: Callable[..., Path]
    ) -> None:
        path = write(content, kind)
        with pytest.raises(ConfigurationError) as caught:
            Settings.load()
        assert f"{path} cannot be parsed" in caught.value.message
        assert "s3cret" not in str(caught.value)
        assert caught.value.fix

    def test_the_place_of_a_fault_in_yaml_is_told(self, write: Callable[..., Path]) -> None:
        write("a: 1\nb: 2\nc: [", ".yaml")
        with pytest.raises(ConfigurationError, match=r"line 3, column 5"):
            Settings.load()

    @pytest.mark.parametrize(("kind", "content"), [(".json", "[1, 2]"), (".json", '"text"'), (".yaml", "- a\n- b")])
    def test_a_file_without_a_table_is_refused(self, kind: str, content: str, write: Callable[..., Path]) -> None:
        path = write(content, kind)
        with pytest.raises(ConfigurationError, match="no table of settings") as caught:
            Settings.load()
        assert str(path) in caught.value.message

    def test_a_missing_file_that_was_named_is_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("QIUSUO_CONFIG", str(tmp_path / "absent.toml"))
        with pytest.raises(ConfigurationError, match=r"absent\.toml cannot be read: No such file") as caught:
            Settings.load()
        assert "QIUSUO_CONFIG" in caught.value.fix

    def test_a_folder_is_no_file(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder.toml"
        folder.mkdir()
        with pytest.raises(ConfigurationError, match=r"folder\.toml cannot be read"):
            Settings.load(folder)

    def test_a_huge_file_is_not_read(self, write: Callable[..., Path]) -> None:
        path = write("#" * (MAX_FILE_BYTES + 1))
        with pytest.raises(ConfigurationError, match="larger than 1 MiB") as caught:
            Settings.load()
        assert str(path) in caught.value.message

    @pytest.mark.parametrize("name", ["settings.ini", "settings"])
    def test_another_kind_of_file_is_refused_with_the_known_kinds(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).write_text("timeout = 7")
        with pytest.raises(ConfigurationError, match="unknown kind") as caught:
            Settings.load(tmp_path / name)
        assert name in caught.value.message
        assert ".toml" in caught.value.fix

    def test_the_users_folder_is_looked_at_in_a_fixed_order(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        folder = tmp_path / "qiusuo"
        folder.mkdir()
        assert config_folder() == folder
        assert find_config_file() is None
        assert Settings.load().config_file is None
        for number, kind in ((3, ".yaml"), (2, ".json"), (1, ".toml")):
            (folder / f"config{kind}").write_text(WRITERS[kind]({"timeout": number}))
            assert Settings.load().timeout == number
        named = tmp_path / "named.json"
        named.write_text('{"timeout": 9}')
        monkeypatch.setenv("QIUSUO_CONFIG", str(named))
        assert Settings.load().timeout == 9
        assert Settings.load(folder / "config.yaml").timeout == 3

    def test_a_tilde_is_the_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("XDG_CONFIG_HOME")
        (tmp_path / "mine.toml").write_text("timeout = 4")
        monkeypatch.setenv("QIUSUO_CONFIG", "~/mine.toml")
        assert Settings.load().timeout == 4
        assert config_folder() == tmp_path / ".config" / "qiusuo"
