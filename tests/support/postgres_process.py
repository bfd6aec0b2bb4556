"""A real PostgreSQL for tests: a throw-away cluster on loopback, one for the whole run."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import pytest

USER, PASSWORD = "qiusuo", "p%40ss-w%C3%B6rt"  # as it stands in an address


def _find_programs() -> Path | None:
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name.split(".")[0]))
    return next((path for path in reversed(found) if (path / "initdb").exists()), None)


PROGRAMS = _find_programs()
MISSING = "NO POSTGRESQL, NOT TESTED: its programs are not installed (Debian: apt-get install postgresql)"

# All in one process: one cluster is enough.
with_postgres = [
    pytest.mark.xdist_group("postgres"),
    pytest.mark.skipif(PROGRAMS is None, reason=MISSING),
]


class PostgresProcess:
    """A cluster in a folder of its own that can be stopped and started again."""

    def __init__(self) -> None:
        # Not below pytest's folder: the path of a socket must be short, and another user must get there.
        self._folder = Path(tempfile.mkdtemp(prefix="qiusuo-pg-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._identity = _unprivileged()
        if self._identity is not None:
            os.chown(self._folder, *self._identity)
        password = self._folder / "password"
        password.write_text("p@ss-wört", encoding="utf-8")
        password.chmod(0o644)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._run("initdb", "-D", str(self._folder / "data"), "-U", USER, "--pwfile", str(password), "-A",
                  "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions")  # fmt: skip
        self.start()

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        settings = (
            "listen_addresses=127.0.0.1", f"port={self.port}", f"unix_socket_directories={self._folder}", "fsync=off",
            "synchronous_commit=off", "full_page_writes=off", "max_connections=120", "shared_buffers=16MB",
        )  # fmt: skip
        command = [self._program("postgres"), "-D", str(self._folder / "data")]
        for setting in settings:
            command += ["-c", setting]
        log = (self._folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(  # noqa: S603 - ours
                command,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                preexec_fn=self._drop(),  # noqa: PLW1509 - short
            )
        for _ in range(600):
            if self._process.poll() is not None:
                break
            done = subprocess.run(  # noqa: S603 - ours
                [self._program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False
            )
            if done.returncode == 0:
                return
            time.sleep(0.05)
        pytest.fail(f"postgres did not start: {(self._folder / 'log').read_text('utf-8', 'replace')[-2000:]}")

    def create(self, *options: str) -> str:
        """Make a database and return its name."""
        name = f"test_{uuid4().hex}"
        environment = {"PGPASSWORD": "p@ss-wört", "PGCLIENTENCODING": "UTF8", "LC_ALL": "C.UTF-8"}
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, *options, name, env=environment)
        return name

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop without waiting for clients; nothing that was committed is lost."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let it hang: connections stay open and nobody answers on them."""
        assert self._process is not None
        pid = self._process.pid
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            pytest.skip("this system does not list the processes of PostgreSQL")
        everyone = [pid, *map(int, children)]
        for one in everyone:
            os.kill(one, signal.SIGSTOP)
        try:
            yield
        finally:
            for one in everyone:
                os.kill(one, signal.SIGCONT)

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)  # at once: its data are not needed any more
        shutil.rmtree(self._folder, ignore_errors=True)

    def _program(self, name: str) -> str:
        assert PROGRAMS is not None
        return str(PROGRAMS / name)

    def _run(self, program: str, *arguments: str, env: dict[str, str] | None = None) -> None:
        done = subprocess.run(  # noqa: S603 - ours
            [self._program(program), *arguments],
            cwd=self._folder,
            env={"PATH": os.environ.get("PATH", ""), **(env or {})},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
            preexec_fn=self._drop(),
        )
        if done.returncode:
            pytest.fail(f"{program}: {done.stderr or done.stdout}")

    def _drop(self) -> Callable[[], None] | None:
        if self._identity is None:
            return None
        user, group = self._identity

        def drop() -> None:
            os.setgroups([])
            os.setgid(group)
            os.setuid(user)

        return drop


def _unprivileged() -> tuple[int, int] | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    pytest.fail("there is no user to run PostgreSQL as")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresProcess]:
    if PROGRAMS is None:
        pytest.skip(MISSING)
    process = PostgresProcess()
    yield process
    process.remove()
