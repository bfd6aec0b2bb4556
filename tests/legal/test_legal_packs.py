"""Packs: installed from git, archives and folders, updated, removed, killed in the middle; hostile archives."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qiusuo.cli.app import app
from qiusuo.errors import ConfigurationError, PageError
from qiusuo.legal.building.packs import archives, fetching
from qiusuo.legal.building.packs.catalogue import PACKS
from qiusuo.legal.building.packs.fetching import Fetcher
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle, LegalIndex
from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from tests.support.legal_samples import POT_LAW, write_statutes_db

RUNNER = CliRunner()
LAWREFBOOK = PACKS["lawrefbook"]
GIT = shutil.which("git")
KITE = "# 风筝条例\n\n<!-- INFO END -->\n\n第一条 风筝应当有线。\n\n第二条 本条例自2012年1月1日起施行。\n"
FILES = {
    "README.md": "# 说明\n",
    "行政法规/风筝条例(2011-09-01).md": KITE,
    "行政法规/陀螺条例(2015-01-01).md": KITE.replace("风筝", "陀螺").replace("2012", "2016"),
    "scripts/tool.md": "# 工具条例\n\n第一条 不是法律。\n",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(tmp_path / "index"))
    monkeypatch.setenv("QIUSUO_LANG", "zh")
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = RUNNER.invoke(app, ["legal", *arguments])
    return result.exit_code, result.output


def index_of(home: Path) -> LegalIndex:
    return IndexHandle(IndexFolder(home / "index")).get()


def write_tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def zipped(files: dict[str, str], top: str = "Laws-master/") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(top + name, text)
    return packed.getvalue()


def git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run([str(GIT), "-C", str(folder), *settings, *arguments], check=True, capture_output=True, env=environ)  # noqa: S603 - our own arguments


class Shelf(Provider):
    """A site with one archive."""

    archive: bytes = b""
    moved_to: str = ""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - open to all
        return True

    def answer(self, seen: Seen) -> Answer:
        if self.moved_to and seen.path == "/moved.zip":
            return Answer(b"", 302, {"Location": self.moved_to})
        return Answer(self.archive, headers={"Content-Type": "application/zip"})


@pytest.mark.programs
@pytest.mark.skipif(GIT is None, reason="NO GIT, NOT TESTED")
def test_a_pack_comes_by_git_is_updated_and_removed(home: Path) -> None:
    run("import", str(write_statutes_db(home / "own.db")))
    before = index_of(home).store.versions
    repository = write_tree(home / "repository", FILES)
    (repository / "行政法规" / "链接.md").symlink_to("/etc/passwd")
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    address = (repository / ".git").as_uri()
    code, text = run("install", "--pack", "lawrefbook", "--from", address, "--yes")
    assert code == 0
    for words in ("许可", address, "约 45 MB", "约 120 秒", "法律 +2 −0，版本 +2"):
        assert words in text
    index = index_of(home)
    assert index.names.find("风筝条例")
    assert not index.names.find("工具条例")
    assert all(not path.is_symlink() for path in (home / "index" / "packs").rglob("*"))
    code, text = run("install", "--pack", "lawrefbook", "--from", address, "--yes")
    assert (code, "已是最新" in text) == (0, True)
    # A corrected text takes the place of the old one; a law that is gone is gone.
    (repository / "行政法规/风筝条例(2011-09-01).md").write_text(KITE.replace("有线", "有长线"), "utf-8")
    (repository / "行政法规/陀螺条例(2015-01-01).md").unlink()
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    code, text = run("install", "--pack", "lawrefbook", "--from", address, "--yes")
    assert (code, "法律 +0 −1" in text, "文字有改动的版本 1" in text, "风筝条例" in text) == (0, True, True, True)
    code, text = run("show", "风筝条例第一条")
    assert "有长线" in text
    assert len([path for path in (home / "index/packs/lawrefbook").iterdir() if path.is_dir()]) == 1
    listed = json.loads(run("packs", "--json")[1])["packs"]
    assert [entry["name"] for entry in listed if entry["installed"]] == ["lawrefbook"]
    code, text = run("remove", "lawrefbook", "--yes")
    assert (code, "法律 +0 −1" in text) == (0, True)
    after = index_of(home).store.versions
    assert {known.law.name for known in after.values()} == {known.law.name for known in before.values()}
    assert not (home / "index/packs/lawrefbook").exists()
    assert run("remove", "lawrefbook", "--yes")[0] == 3


def test_a_pack_comes_as_an_archive_over_http(home: Path) -> None:
    shelf = Shelf()
    shelf.archive = zipped(FILES)
    with ProviderServer(shelf) as server:
        code, text = run("install", "--pack", "lawrefbook", "--from", f"{server.url}/laws.zip", "--yes")
        assert (code, "版本 +2" in text) == (0, True)
        code, text = run("install", "--pack", "lawrefbook", "--from", f"{server.url}/laws.zip", "--yes")
        assert (code, "已是最新" in text) == (0, True)
        # Where the named host sends us is checked as any address.
        shelf.moved_to = "http://169.254.169.254/laws.zip"
        assert run("install", "--pack", "just-laws", "--from", f"{server.url}/moved.zip", "--yes")[0] not in {0, 1}
        shelf.moved_to, shelf.archive = "", b"<html>no archive"
        code, text = run("install", "--pack", "just-laws", "--from", f"{server.url}/laws.zip", "--yes")
        assert (code, "不是压缩包" in text) == (3, True)
    assert index_of(home).names.find("陀螺条例")


def test_a_download_has_an_end(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    shelf.archive = zipped(FILES)
    with ProviderServer(shelf) as server:
        address = f"{server.url}/laws.zip"
        with monkeypatch.context() as patch:
            patch.setattr(fetching, "MAX_DOWNLOAD_BYTES", len(shelf.archive) - 1)
            assert run("install", "--pack", "lawrefbook", "--from", address, "--yes")[0] not in {0, 1}
        server.fault = Fault.TRUNCATED
        assert run("install", "--pack", "lawrefbook", "--from", address, "--yes")[0] not in {0, 1}
    assert not (home / "index" / "current").exists()
    assert list((home / "index/packs/lawrefbook").iterdir()) == []


def test_the_default_address_is_not_opened_to_private_places(home: Path) -> None:
    with ProviderServer(Shelf()) as server:
        fetcher = Fetcher(PACKS["just-laws"], home)
        with pytest.raises(PageError):
            fetcher._from_archive(f"{server.url}/x.zip", home, home, named=False)
        assert server.seen == []


def test_a_law_that_another_source_holds_too_stays_when_a_pack_goes(home: Path) -> None:
    own = write_tree(home / "own", {"风筝条例(2011-09-01).md": KITE.replace("第二条", "第三条")})
    pack = write_tree(home / "pack", FILES)
    run("install", "--pack", "lawrefbook", "--from", str(pack), "--yes")
    run("import", str(own))
    index = index_of(home)
    (version,) = index.store.versions_of(index.names.find("风筝条例")[0])
    assert version.article_count == 3  # one version, put together of both
    assert run("remove", "lawrefbook", "--yes")[0] == 0
    index = index_of(home)
    (version,) = index.store.versions_of(index.names.find("风筝条例")[0])
    assert (version.article_count, index.store.numbers(version)) == (2, (1, 3))
    assert not index.names.find("陀螺条例")


INSTALL = """
import sys
from qiusuo.legal.building import imports
from qiusuo.legal.pack_terminal import PackOrder, run_install_pack
own = imports.Importer._read
def slowly(self, writer, file, *rest):
    print(file.name, flush=True)
    return own(self, writer, file, *rest)
imports.Importer._read = slowly
run_install_pack(PackOrder("lawrefbook", sys.argv[1], yes=True))
"""


@pytest.mark.programs
def test_killed_in_the_middle_the_old_index_serves_and_the_next_run_goes_on(home: Path) -> None:
    first = write_tree(home / "first", FILES)
    run("install", "--pack", "lawrefbook", "--from", str(first), "--yes")
    rules = {f"行政法规/第{n}号条例(2016-01-01).md": KITE.replace("风筝", f"第{n}号") for n in range(60)}
    second = write_tree(home / "second", rules)
    with subprocess.Popen([sys.executable, "-c", INSTALL, str(second)], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own code
        assert process.stdout is not None
        next(line for line in process.stdout if line.startswith("第40号"))
        process.send_signal(signal.SIGKILL)
    assert index_of(home).names.find("风筝条例")
    assert not index_of(home).names.find("第3号条例")
    # Whatever import comes next finishes what was begun.
    (home / "pot.md").write_text(POT_LAW, "utf-8")
    assert run("import", str(home / "pot.md"))[0] == 0
    index = index_of(home)
    assert not index.names.find("风筝条例")
    assert index.names.find("水壶法")
    assert all(index.names.find(f"第{number}号条例") for number in range(60))
    code, text = run("install", "--pack", "lawrefbook", "--from", str(second), "--yes")
    assert (code, "没有变化" in text) == (0, True)


def _zip_with(name: str, kind: int = stat.S_IFREG) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("top/good.md", KITE)
            info = zipfile.ZipInfo(name)
            info.external_attr = (kind | 0o777) << 16
            archive.writestr(info, "/etc/passwd")

    return write


def _tar_with(name: str, kind: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with tarfile.open(path, "w:gz") as archive:
            good = tarfile.TarInfo("top/good.md")
            good.size = len(KITE.encode())
            archive.addfile(good, io.BytesIO(KITE.encode()))
            bad = tarfile.TarInfo(name)
            bad.type, bad.linkname = kind, "/etc/passwd"
            archive.addfile(bad)

    return write


@pytest.mark.parametrize(
    "write",
    [
        _zip_with("../../outside.md"),
        _zip_with("/outside.md"),
        _zip_with("top\\..\\..\\outside.md"),
        _zip_with("C:/outside.md"),
        _tar_with("../outside.md", tarfile.REGTYPE),
    ],
)
def test_an_archive_that_leads_outside_is_refused(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "bad")
    with pytest.raises(ConfigurationError, match="leads outside"):
        archives.unpack(tmp_path / "bad", tmp_path / "tree", LAWREFBOOK.wants)
    assert not list(tmp_path.rglob("outside.md"))


@pytest.mark.parametrize(
    "write",
    [
        _zip_with("top/link.md", stat.S_IFLNK),
        _tar_with("top/link.md", tarfile.SYMTYPE),
        _tar_with("top/hard.md", tarfile.LNKTYPE),
        _tar_with("top/device.md", tarfile.CHRTYPE),
    ],
)
def test_links_and_devices_are_left_out(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "archive")
    assert archives.unpack(tmp_path / "archive", tmp_path / "tree", LAWREFBOOK.wants) == 1
    assert [path.name for path in (tmp_path / "tree").iterdir()] == ["good.md"]


def test_an_archive_is_read_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({f"{number}.md": "x" * 1000 for number in range(20)}))
    for limit, value, words in (
        ("MAX_ENTRIES", 10, "more than 10 entries"),
        ("MAX_FILE_BYTES", 999, "larger than"),
        ("MAX_WHOLE_BYTES", 5000, "unpacks to more"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(archives, limit, value)
            with pytest.raises(ConfigurationError, match=words):
                archives.unpack(tmp_path / "a.zip", tmp_path / "tree", LAWREFBOOK.wants)
    # A tar is unpacked to be listed: what nobody wants of it counts too.
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz") as archive:
        for number in range(3):
            unwanted = tarfile.TarInfo(f"top/{number}.bin")
            unwanted.size = 1000
            archive.addfile(unwanted, io.BytesIO(b"x" * 1000))
    with monkeypatch.context() as patch:
        patch.setattr(archives, "MAX_WHOLE_BYTES", 2000)
        with pytest.raises(ConfigurationError, match="unpacks to more"):
            archives.unpack(tmp_path / "bomb.tar.gz", tmp_path / "tree", LAWREFBOOK.wants)
    (tmp_path / "cut.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:-40])
    with pytest.raises(ConfigurationError):
        archives.unpack(tmp_path / "cut.zip", tmp_path / "tree", LAWREFBOOK.wants)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--pack", "nothing", "--yes"), "lawrefbook"),
        (("--from", "/somewhere", "--yes"), "--pack"),
        (("--pack", "lawrefbook", "--from", "/nonexistent", "--yes"), "不是文件夹"),
        (("--pack", "lawrefbook"), "--yes"),
        (("--pack", "flk", "--since", "yesterday", "--yes"), "不是日期"),
    ],
)
def test_what_is_wrong_is_said(home: Path, arguments: tuple[str, ...], words: str) -> None:
    code, text = run("install", *arguments)
    assert (code in {2, 3}, words in text) == (True, True)
    assert not (home / "index" / "current").exists()
