"""Bringing a collection onto this machine: from a folder, an archive, a git repository or an address."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from qiusuo.errors import ConfigurationError
from qiusuo.http.guard import DEFAULT_PORTS, FetchPolicy
from qiusuo.http.pages import PageClient
from qiusuo.legal.building.packs.archives import copy_folder, is_archive, unpack
from qiusuo.legal.building.packs.catalogue import Pack
from qiusuo.words import Fact

MAX_DOWNLOAD_BYTES: Final = 512 * 1024**2
DOWNLOAD_TIMEOUT: Final = 1800.0
GIT_TIMEOUT: Final = 1800
UNFINISHED: Final = ".new-"
"""How the names of folders begin in which something is arriving."""
ARCHIVE_KINDS: Final = frozenset(
    {"application/zip", "application/x-zip-compressed", "application/gzip", "application/x-gzip", "application/x-tar",
     "application/octet-stream", "application/x-compressed-tar", "binary/octet-stream"}
)  # fmt: skip
_PERCENT = re.compile(r"(?:Receiving objects|Updating files):\s+(\d+)%")
_REVISION_CHARS: Final = 12
# Nothing that the repository or the user's own settings bring may run a program or ask a question.
_GIT: Final = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "protocol.ext.allow=never",
               "-c", "credential.helper=", "-c", "core.autocrlf=false",
               # A transfer that stands still is given up.
               "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")  # fmt: skip

Share = Callable[[float | None], None]
"""Hears how far the transfer is, 0 to 1, None where that is not known."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection that lies in a folder of ours, whole. ``origin`` is where it came from, without a login."""

    tree: Path
    revision: str
    origin: str


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Brings one pack below a folder of ours."""

    pack: Pack
    folder: Path
    share: Share = lambda _share: None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def bring(self, source: str = "") -> Collection:
        """Bring the collection from ``source`` (a path or an address), else from where the pack comes from.

        What arrives is complete or not there at all; a revision that is there already is not copied again.

        Raises:
            ConfigurationError: it cannot be had, or it is not what it should be.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=self.folder) as work:
            tree = Path(work) / "tree"
            tree.mkdir()
            origin, count, revision = self._into(tree, source, Path(work))
            if not count:
                raise ConfigurationError(Fact("legal_packs.nothing_in_it", pack=self.pack.name, origin=origin))
            target = self.folder / revision[:_REVISION_CHARS]
            if not target.is_dir():
                tree.rename(target)
        return Collection(target, revision, origin)

    def newest(self, source: str = "") -> str:
        """Return the newest revision of a git repository without bringing it, empty where that cannot be told."""
        local = Path(source).expanduser() if source and "://" not in source else None
        address = local.resolve().as_uri() if local and _is_bare(local) else source or self.pack.git
        if not _is_git_address(address) or not self._has_git():
            return ""
        said = self._git("ls-remote", "--", address, "HEAD", check=False)
        return said.split()[0] if said.split() else ""

    def _into(self, tree: Path, source: str, work: Path) -> tuple[str, int, str]:
        local = Path(source).expanduser() if source and "://" not in source else None
        if local is not None:
            return self._from_path(local, tree, work)
        if source and not _is_git_address(source):
            return self._from_archive(source, tree, work, named=True)
        if source or self._has_git():
            address = source or self.pack.git
            try:
                return self._from_git(address, tree, work)
            except ConfigurationError:
                if source:
                    raise
        return self._from_archive(self.pack.archive, tree, work, named=False)

    def _from_path(self, path: Path, tree: Path, work: Path) -> tuple[str, int, str]:
        if _is_bare(path):
            return self._from_git(path.resolve().as_uri(), tree, work)
        if path.is_dir():
            count = copy_folder(path, tree, self.pack.wants)
        elif path.is_file() and is_archive(path):
            count = unpack(path, tree, self.pack.wants)
        else:
            raise ConfigurationError(Fact("legal_packs.no_collection", path=path))
        return str(path.resolve()), count, _digest(tree)

    def _from_archive(self, address: str, tree: Path, work: Path, *, named: bool) -> tuple[str, int, str]:
        place = work / "archive"
        asyncio.run(self._download(address, place, named=named))
        if not is_archive(place):
            raise ConfigurationError(Fact("legal_packs.no_archive", address=_shown(address)))
        count = unpack(place, tree, self.pack.wants)
        return _shown(address), count, _digest(tree)

    async def _download(self, address: str, place: Path, *, named: bool) -> None:
        parts = urlsplit(address)
        # The user's own word opens the place that it names, and no other.
        ports = {parts.port or DEFAULT_PORTS.get(parts.scheme, 443)} if named else set[int]()
        policy = FetchPolicy(
            allowed_ports=frozenset({80, 443} | ports),
            allow_private=(parts.hostname,) if named and parts.hostname else (),
            max_bytes=MAX_DOWNLOAD_BYTES,
            timeout=DOWNLOAD_TIMEOUT,
            content_types=ARCHIVE_KINDS,
            use_env_proxy=True,
        )
        size = 0
        with place.open("wb") as file:

            def take(piece: bytes, whole: int | None) -> None:
                nonlocal size
                file.write(piece)
                size += len(piece)
                self.share(size / whole if whole else None)

            await PageClient(policy).download(address, take)

    def _from_git(self, address: str, tree: Path, work: Path) -> tuple[str, int, str]:
        if not self._has_git():
            raise ConfigurationError(Fact("legal_packs.no_git"))
        clone = work / "clone"
        self._git(
            "clone", "--progress", "--depth", "1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--",
            address, str(clone),
        )  # fmt: skip
        revision = self._git("-C", str(clone), "rev-parse", "HEAD").strip()
        count = copy_folder(clone, tree, self.pack.wants)
        shutil.rmtree(clone, ignore_errors=True)
        return _shown(address), count, revision

    def _has_git(self) -> bool:
        return shutil.which("git", path=self.environ.get("PATH")) is not None

    def _git(self, *arguments: str, check: bool = True) -> str:
        """Run git and return what it says; its progress is heard meanwhile."""
        quiet = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_ASKPASS": "true"}
        # Where a shell of git's own stands in the environment, it is not ours to clone into.
        inherited = {name: value for name, value in self.environ.items() if not name.startswith("GIT_")}
        command = [*_GIT, *arguments]
        said: list[str] = []
        try:
            with (
                tempfile.TemporaryFile("w+") as out,
                subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True, env={**inherited, **quiet})  # noqa: S603 - our own arguments, the address behind --
                as process,
            ):  # fmt: skip
                for line in process.stderr or ():  # universal newlines: each step of the progress is a line
                    said.append(line.strip())
                    percent = _PERCENT.search(line)
                    if percent:
                        self.share(int(percent[1]) / 100)
                code = process.wait(GIT_TIMEOUT)
                out.seek(0)
                text = out.read()
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ConfigurationError(Fact("legal_packs.git_failed", words=str(error)[:300])) from None
        if code and check:
            words = next((line for line in reversed(said) if line), str(code))
            raise ConfigurationError(Fact("legal_packs.git_failed", words=_without_login(words)[:300]))
        return text if not code else ""


def _is_bare(path: Path) -> bool:
    """Tell whether a folder is a git repository without files beside it."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir()


def _is_git_address(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme in {"git", "ssh", "file"} or (parts.scheme in {"http", "https"} and parts.path.endswith(".git"))


def _shown(address: str) -> str:
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def _without_login(words: str) -> str:
    return re.sub(r"(?<=://)[^/@\s]+@", "", words)


def _digest(tree: Path) -> str:
    """Return a digest of what a collection holds, whatever it was packed with."""
    digest = hashlib.sha256()
    for file in sorted(tree.rglob("*")):
        if file.is_file():
            digest.update(file.relative_to(tree).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
