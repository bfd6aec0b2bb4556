"""Build the wheel and the sdist, install the wheel where no source is near, and use it as a reader would.

    .venv/bin/python scripts/wheel.py [folder]      the built files are left in the folder; unset: nothing is left

Everything but the packages comes from loopback. The versions are those of ``uv.lock``, so that only our own faults
fail here. Exit codes: 0 all is well, 1 something is wrong with the package, 3 the package index cannot be reached.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import IO, Final
from urllib.request import ProxyHandler, build_opener

from setup import BIN, ROOT, find_uv, loud

OK, WRONG, NO_INDEX = 0, 1, 3
EXTRAS: Final = "server,chat"  # what `qiusuo serve` with its page needs
SECONDS: Final = 100
# Runs in the wheel's own environment until its input ends.
PROVIDER: Final = """
import sys
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
with ProviderServer(Searxng()) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
"""


class Wrong(Exception):
    """The package is not as it should be."""


class NoIndex(Exception):
    """The package index cannot be reached, so that nothing can be built or installed."""


def main() -> int:
    """Build, install, use."""
    began = time.monotonic()
    uv = find_uv(sys.executable)
    if uv is None:
        loud(["THE WHEEL WAS NOT TESTED: uv could not be installed by pip."])
        return NO_INDEX
    with tempfile.TemporaryDirectory(prefix="qiusuo-wheel-") as name:
        work = Path(name)
        try:
            wheel = build(uv, work / "dist")
            installed = install(uv, wheel, work)
            use(installed, work / "home")
            use_plugin(uv, installed, work / "plugin")
        except NoIndex as error:
            loud(["THE WHEEL WAS NOT TESTED: the package index cannot be reached.", *str(error).splitlines()])
            return NO_INDEX
        except Wrong as error:
            loud(["The wheel is wrong.", *str(error).splitlines()])
            return WRONG
        if len(sys.argv) > 1:
            shutil.copytree(work / "dist", sys.argv[1], dirs_exist_ok=True)
    say(f"all is well, {time.monotonic() - began:.0f} s")
    return OK


def build(uv: Path, dist: Path) -> Path:
    """Build both, the wheel out of the sdist, and look into them; return the wheel."""
    run_uv(uv, "build", "--quiet", "--python", sys.executable, "--out-dir", dist, ROOT)
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        packed = {member.partition("/")[2] for member in archive.getnames()}
    source = {f"qiusuo/{name}" for name in files_in("src/qiusuo")}
    docs = {f"qiusuo/web/docs/{name}" for name in files_in("docs")}
    information = {name for name in inside if ".dist-info/" in name}
    demand(missing=(source | docs) - inside, extra=inside - source - docs - information, where=wheel.name)
    wanted = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", *(f"docs/{name}" for name in files_in("docs"))}
    strange = {name for name in packed if re.search(r"(^|/)(\.venv|\.cache|node_modules|__pycache__)(/|$)", name)}
    demand(missing=wanted - packed, extra=strange, where=sdist.name)
    if not any(name.endswith("licenses/LICENSE") for name in information):
        raise Wrong(f"{wheel.name} is without its licence.")
    say(f"{wheel.name}: {len(inside)} files, {wheel.stat().st_size // 1024} KiB; {sdist.name}: {len(packed)} files")
    return wheel


def install(uv: Path, wheel: Path, work: Path) -> Path:
    """Install the wheel into an environment of its own; return where its programs are."""
    versions, place = work / "versions.txt", work / "env"
    run_uv(uv, "export", "--quiet", "--locked", "--no-emit-project", "--no-hashes", "--all-extras", "--no-dev",
        "--project", ROOT, "--output-file", versions)  # fmt: skip
    run_uv(uv, "venv", "--quiet", "--python", sys.executable, place)
    run_uv(
        uv,
        "pip",
        "install",
        "--quiet",
        "--python",
        place,
        "--constraint",
        versions,
        f"qiusuo[{EXTRAS}] @ {wheel.as_uri()}",
    )
    return place / BIN


def use(programs: Path, home: Path) -> None:
    """Ask for the version, search, write SearXNG's files, serve."""
    home.mkdir()
    qiusuo, python = programs / "qiusuo", programs / "python"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "QIUSUO_LANG": "en"}

    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    told = run(qiusuo, "--version", cwd=home, env=environment).strip()
    if told != f"qiusuo {version}":
        raise Wrong(f"qiusuo --version says {told!r}, pyproject.toml {version}.")
    where = run(python, "-c", "import qiusuo; print(qiusuo.__file__)", cwd=home, env=environment)
    if not Path(where).is_relative_to(programs.parent):
        raise Wrong(f"The package was loaded from {where.strip()}.")
    say(told)

    with started(python, "-c", PROVIDER, cwd=home, env=environment) as provider:
        environment["SEARXNG_URL"] = next(lines(provider.stdout), "").strip()
        found = json.loads(run(qiusuo, "search", "qiusuo wheel", "--json", cwd=home, env=environment))
        if found["provider"] != "searxng" or not found["results"]:
            raise Wrong(f"qiusuo search says {found}.")
        say(f"qiusuo search: {len(found['results'])} results")
        run(qiusuo, "searxng", "init", home / "kit", cwd=home, env=environment)
        if not {"docker-compose.yml", "settings.yml"} <= {file.name for file in (home / "kit").iterdir()}:
            raise Wrong("qiusuo searxng init wrote no files: the templates are missing.")
        with started(qiusuo, "serve", "--port", "0", cwd=home, env=environment) as server:
            look_at(address_of(server))
            server.terminate()
            if server.wait(SECONDS) not in {0, -signal.SIGTERM}:
                raise Wrong(f"qiusuo serve ended with {server.returncode}.")


def use_plugin(uv: Path, programs: Path, folder: Path) -> None:
    """Build the plug-in that the docs show, install it beside us, and use its command."""
    shown = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    for text, name in re.findall(r"^```(?:python|toml)\n(# (\S+)\n.*?)^```$", shown, re.MULTILINE | re.DOTALL):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    run_uv(uv, "pip", "install", "--quiet", "--python", programs / "python", "--no-deps", folder)
    told = run(
        programs / "qiusuo", "tea", "longjing", cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder)}
    )
    if "80" not in told:
        raise Wrong(f"qiusuo tea of the plug-in in docs/plugins.md says {told!r}.")
    say("the plug-in of the docs: built, installed, used")


def look_at(url: str) -> None:
    """Open the page with all it loads, and the docs in both languages."""
    get(f"{url}/livez")
    page = get(f"{url}/")
    loaded = re.findall(r'(?:src|href)="(/[^"]+\.(?:js|css|svg))"', page)
    if not loaded:
        raise Wrong("The page at / loads nothing.")
    for path in loaded:
        get(url + path)
    for path, words in (
        ("/docs/usage", "Add an engine"),
        ("/docs/usage?lang=zh", "添加引擎"),
        ("/docs/cli", "qiusuo serve"),
    ):
        if words not in get(url + path):
            raise Wrong(f"{path} does not show the documentation.")
    say(f"qiusuo serve: the page with {len(loaded)} files, the docs")


def get(url: str) -> str:
    """Return what the server has at an address."""
    try:
        with build_opener(ProxyHandler({})).open(url, timeout=20) as answer:
            return str(answer.read().decode())
    except OSError as error:
        raise Wrong(f"GET {url}: {error}") from None


def address_of(server: subprocess.Popen[str]) -> str:
    """Return the address that a starting server tells."""
    told = ""
    for line in lines(server.stderr):
        told += line
        if found := re.search(r"http://[\d.]+:\d+", line):
            return found[0]
    raise Wrong(f"qiusuo serve did not start: {told}")


def files_in(folder: str) -> set[str]:
    """Return the files below a folder of ours that belong to the project."""
    found = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT / folder).as_posix() for path in found}


def demand(*, missing: set[str], extra: set[str], where: str) -> None:
    """Complain of files that an archive lacks or should not have."""
    if missing or extra:
        raise Wrong(f"{where} lacks {sorted(missing)[:10]} and should not have {sorted(extra)[:10]}.")


def run_uv(uv: Path, *arguments: str | Path) -> None:
    """Let uv build or install; where it fails, find out whether that is for want of an index."""
    try:
        run(uv, *arguments)
    except Wrong as error:
        with tempfile.TemporaryDirectory() as folder:
            probe = (uv, "pip", "install", "--dry-run", "--no-deps", "--refresh", "--target", folder, "hatchling")
            answers = subprocess.run(probe, capture_output=True, timeout=SECONDS, check=False).returncode == 0
        raise error if answers else NoIndex(str(error)) from None


def run(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it prints; its failure is ours."""
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Wrong(f"No end within {SECONDS} s: {' '.join(map(str, command))}") from None
    if done.returncode:
        raise Wrong(
            f"Exit code {done.returncode}: {' '.join(map(str, command))}\n{(done.stderr or done.stdout)[-4000:]}"
        )
    return done.stdout


@contextmanager
def started(
    *command: str | Path, cwd: Path, env: Mapping[str, str], user: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a command for as long as it is needed, as another user where one is named."""
    pipe, who = subprocess.PIPE, {} if user is None else {"user": user, "group": user, "extra_groups": []}
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **who) as process:
        overdue = Timer(SECONDS, process.kill)  # ends also the reading of what it says
        overdue.start()
        try:
            yield process
        finally:
            overdue.cancel()
            process.kill()


def lines(stream: IO[str] | None) -> Iterator[str]:
    """Return the lines of a pipe of ours."""
    return iter(stream or ())


def say(text: str) -> None:
    """Print one line at once."""
    print(f"[wheel] {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
