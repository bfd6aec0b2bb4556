"""Do without Docker what the image of ``deploy/Dockerfile`` does: build its /app, and run its commands from it.

    .venv/bin/python scripts/image.py                 build by the steps of the file, weigh it, serve, look, stop
    .venv/bin/python scripts/image.py --app .venv     serve from an environment that is there

The server runs with the image's variables, a folder for /data, a home that nobody can write and, where this is root and
the interpreter is for everybody, as the image's user. Exit codes: 0 all is well, 1 something is wrong, 3 the package
index cannot be reached.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from setup import ROOT, find_uv, loud
from wheel import NO_INDEX, OK, WRONG, NoIndex, Wrong, address_of, get, run_uv, started

FILE: Final = ROOT / "deploy" / "Dockerfile"
TOKEN: Final = "deployment-test-token"  # noqa: S105 - of a server that lives for seconds
STOP_SECONDS: Final = 15.0


@dataclass
class Stage:
    """What the Dockerfile says of one stage: its steps and variables."""

    runs: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)
    """Instructions of which the last one counts, such as CMD."""


def read_stages(text: str) -> dict[str, Stage]:
    """Return the stages of a Dockerfile by name; each begins with what the one it stands on says."""
    whole = re.sub(r"\\\n", " ", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    stages: dict[str, Stage] = {}
    stage = Stage()
    for line in filter(None, map(str.strip, whole.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            source, _, name = rest.partition(" AS ")
            below = stages.get(source, Stage())
            stage = stages[name] = Stage([], dict(below.variables), dict(below.last))
        elif word == "RUN":
            stage.runs.append(rest.strip())
        elif word in {"ENV", "ARG"}:
            stage.variables |= dict(part.split("=", 1) for part in shlex.split(rest) if "=" in part)
        else:
            stage.last[word] = rest.strip()
    return stages


def main() -> int:
    """Build, weigh, serve, look, stop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--app", type=Path, help="an environment that is there; unset: it is built")
    wanted = parser.parse_args()
    stages = read_stages(FILE.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="qiusuo-image-") as name:
        work = Path(name)
        work.chmod(0o755)
        try:
            app = wanted.app.absolute() if wanted.app else build(stages, work)
            use(stages["slim"], app, work)
        except NoIndex as error:
            loud(["THE IMAGE'S STEPS WERE NOT RUN: the package index cannot be reached.", *str(error).splitlines()])
            return NO_INDEX
        except Wrong as error:
            loud(["The image's steps do not work.", *str(error).splitlines()])
            return WRONG
    say("all is well")
    return OK


def build(stages: Mapping[str, Stage], work: Path) -> Path:
    """Run the steps of the stages that make /app, from the files that the image's build sees; return where it is."""
    uv, stage, app = find_uv(sys.executable), stages["build"], work / "app"
    if uv is None:
        raise NoIndex("uv could not be installed by pip.")
    context = work / "source"
    context.mkdir()
    for entry in (line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"):
        (context / entry).symlink_to(ROOT / entry)
    places = {"UV_PROJECT_ENVIRONMENT": str(app), "UV_PYTHON": for_everybody(), "XDG_DATA_HOME": str(work / "warm")}
    # uv's own cache and link mode are no part of what is tried.
    own = {name: value for name, value in stage.variables.items() if not name.startswith("UV_")}
    environment = {**os.environ, **own, **places, "UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PATH"] = os.pathsep.join((str(app / "bin"), str(uv.parent), os.environ["PATH"]))
    for step in (*stage.runs, *stages["slim"].runs):
        if step.startswith("apt-get"):  # a tool of the build, which is here or is not
            continue
        moved = step.replace("XDG_DATA_HOME=/tmp/warm ", "").replace("/tmp/warm", str(work / "warm"))  # noqa: S108 - the image's
        began = time.monotonic()
        done = subprocess.run(
            ["/bin/sh", "-c", moved], cwd=context, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            run_uv(uv, "pip", "install", "--dry-run", "--no-deps", "--target", work / "probe", "hatchling")
            raise Wrong(f"{step}\n{done.stderr[-2000:]}")
        say(f"{time.monotonic() - began:4.0f} s  {step[:90]}")
    weigh(app)
    return app


def for_everybody() -> str:
    """Return the interpreter to build with: that of the system where this is root's own and others cannot run it."""
    system = Path("/usr/bin/python3")
    asked = "import sys; raise SystemExit(sys.version_info < (3, 11))"
    if os.name == "posix" and os.getuid() == 0 and not may_run(Path(sys.executable), 10001) and system.exists():
        new_enough = subprocess.run([system, "-c", asked], check=False).returncode == 0
        return str(system if new_enough else sys.executable)
    return sys.executable


def may_run(program: Path, user: int) -> bool:
    """Tell whether a user may run a program."""
    try:
        return subprocess.run([program, "-c", ""], user=user, group=user, extra_groups=[], check=False).returncode == 0
    except OSError:
        return False


def weigh(app: Path) -> None:
    """Tell how large /app is, and what is large in it."""
    parts: dict[str, int] = {}
    for path in app.rglob("*"):
        if path.is_file() and not path.is_symlink():
            inside = path.relative_to(app).parts
            name = (
                next((part for part in inside[inside.index("site-packages") + 1 :]), "")
                if "site-packages" in inside
                else inside[0]
            )
            name = "compiled Python" if path.suffix == ".pyc" else name
            parts[name] = parts.get(name, 0) + path.stat().st_size
    largest = sorted(parts.items(), key=lambda part: -part[1])[:8]
    told = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in largest)
    say(f"/app: {sum(parts.values()) / 1e6:.0f} MB, of it {told}; the base image comes to it")


def use(stage: Stage, app: Path, work: Path) -> None:
    """Serve as the image does, ask as its health check does, and stop as Docker does."""
    data, home = work / "data", work / "home"
    data.mkdir()
    home.mkdir(mode=0o555)
    user = int(stage.last["USER"].partition(":")[0])
    other = os.getuid() == 0 and may_run(app / "bin" / "python", user)
    if other:
        os.chown(data, user, user)
    else:
        say("as this user: only root can become the image's, and only where everybody may run the interpreter")
    moved = {name: value.replace("/data", str(data)) for name, value in stage.variables.items()}
    moved |= {
        "HOME": str(home),
        "PATH": f"{app / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "TMPDIR": str(data),
        "QIUSUO_LANG": "en",
        "QIUSUO_TOKENS": f"probe:{TOKEN}",
        "QIUSUO_PORT": "0",
        "SEARXNG_URL": "http://127.0.0.1:9",
    }
    command = [*json.loads(stage.last["ENTRYPOINT"]), *json.loads(stage.last["CMD"])]
    command[0] = str(app / "bin" / command[0])
    with started(*command, cwd=data, env=moved, user=user if other else None) as server:
        url = re.sub(r"//[^:]+", "//127.0.0.1", address_of(server))
        port = url.rpartition(":")[2]
        check = json.loads(stage.last["HEALTHCHECK"].partition("CMD ")[2])
        asked = {**moved, "QIUSUO_PORT": port, "HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
        for wanted, environment in ((0, asked), (1, {**asked, "QIUSUO_PORT": "9"})):
            done = subprocess.run(
                [str(app / "bin" / check[0]), *check[1:]], env=environment, capture_output=True, check=False
            )
            if bool(done.returncode) != bool(wanted):
                raise Wrong(f"The health check ends with {done.returncode}: {done.stderr.decode()[-500:]}")
        get(f"{url}/readyz")
        get(f"{url}/")
        began = time.monotonic()
        server.send_signal(getattr(signal, stage.last["STOPSIGNAL"]))
        try:
            code = server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise Wrong(f"The server did not stop within {STOP_SECONDS} s.") from None
        if code not in {0, -signal.SIGTERM}:
            raise Wrong(f"The server ended with {code}.")
    kept = sorted(path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file())
    if "qiusuo/chat.db" not in kept:
        raise Wrong(f"Conversations are not kept in /data, which has {kept}.")
    if any(home.iterdir()):
        raise Wrong(f"The home folder was written to: {list(home.iterdir())}")
    who = f"the user {user}" if other else "this user"
    say(f"served as {who}, healthy, stopped in {time.monotonic() - began:.1f} s; in /data: {', '.join(kept)}")


def say(text: str) -> None:
    """Print one line at once."""
    print(f"[image] {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
