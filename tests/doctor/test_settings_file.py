"""Changes of a settings.yml leave everything else as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from qiusuo.kit.files import template
from qiusuo.kit.settings_file import SettingsFile, SettingsFileError

BLOCK = """\
# my settings
use_default_settings: true
search:
  safe_search: 0   # none
  formats:
    - html
    # - csv

  # after
  autocomplete: ""
server:
  secret_key: "ultrasecretkey"  # change me
"""


def written(tmp_path: Path, text: str) -> SettingsFile:
    path = tmp_path / "settings.yml"
    path.write_text(text)
    return SettingsFile.read(path)


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        "search:\n  formats:\n  - html\n",
        "search:\n  formats:\n  - html",
        "search:\n  formats: [html]  # only pages\n",
        "search: {formats: [html]}\n",
        "search: {}\nserver: {limiter: false}\n",
        "search:\n  safe_search: 0\n",
        "search:\nserver:\n  limiter: false\n",
        "use_default_settings: true\n",
        "use_default_settings: true",
        '{"search": {"formats": ["html"]}, "server": {"port": 1}}',
        "{server: {port: 1}}",
        "",
        "# nothing yet\n",
        "server:\n  port: 1\nsearch:\n    formats:\n        - html\n        - csv\n# the end\n",
    ],
)
def test_json_is_added_and_nothing_else_changes(tmp_path: Path, text: str) -> None:
    before = written(tmp_path, text)
    after = before.with_value("search", "formats", [*before.formats, "json"])
    assert "json" in after.formats
    assert yaml.safe_load(after.text) == after.content
    comments = [line.strip() for line in text.splitlines() if line.strip().startswith("#") and "- csv" not in line]
    assert all(comment in after.text for comment in comments)
    backup = after.save()
    assert backup.read_text() == text
    assert SettingsFile.read(before.path).formats == after.formats


def test_a_value_with_a_comment_behind_it_keeps_the_comment(tmp_path: Path) -> None:
    after = written(tmp_path, BLOCK).with_value("server", "secret_key", "new")
    assert '  secret_key: "new"  # change me\n' in after.text
    assert not after.has_default_secret


def test_the_default_secret_is_recognised(tmp_path: Path) -> None:
    assert written(tmp_path, BLOCK).has_default_secret
    assert written(tmp_path, "use_default_settings: true\n").has_default_secret


@pytest.mark.parametrize("text", ["search: [", "- a\n- b\n", "a: b: c\n"])
def test_what_is_no_settings_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsFileError):
        written(tmp_path, text)


def test_a_parse_error_does_not_quote_the_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsFileError) as caught:
        written(tmp_path, 'server:\n  secret_key: "hush-hush\n')
    assert "hush" not in str(caught.value)


def test_a_section_that_is_no_table_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(SettingsFileError):
        written(tmp_path, "search: nothing\n").with_value("search", "formats", ["json"])


def test_the_template_is_read_as_it_is_meant(tmp_path: Path) -> None:
    text = template("settings.yml").replace("${port}", "8080").replace("${limiter}", "false")
    file = written(tmp_path, text.replace("${valkey_url}", "false"))
    assert file.formats == ("html", "json")
    # Its secret stands in a file of its own.
    assert (file.port, file.uses_defaults, file.has_default_secret) == (8080, True, True)
