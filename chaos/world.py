"""What the faults strike: nginx over servers of ours, PostgreSQL or SQLite, Redis, a model and a search engine."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from subprocess import run
from typing import Final, Self

from chaos.clock import set_step, stepped_clock
from chaos.processes import DidNotStart, NotThere, Program, accepts, family, free_port, listens, program, wait_until
from chaos.wire import Front

ROOT: Final = Path(__file__).resolve().parent.parent
OWNERS: Final = 8
DISK_MB: Final = 24
START_SECONDS: Final = 120.0
_SETTINGS: Final = re.compile(r"(QIUSUO|SEARCH|SEARXNG|PG)_?|.*_API_KEY$|.*_proxy$", re.IGNORECASE)

_NGINX: Final = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr crit; worker_rlimit_nofile 20000;
events {{ worker_connections 9000; }}
http {{
    access_log off; client_max_body_size 16m;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    upstream servers {{ least_conn; {servers} }}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        proxy_connect_timeout 3s;
        proxy_set_header Host localhost;
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto http;
        proxy_set_header X-Forwarded-Host "";
        proxy_set_header Forwarded "";
        proxy_set_header X-Qiusuo-Elsewhere "tried $upstream_status";
        location / {{ proxy_pass http://servers; }}
        location @elsewhere {{ proxy_pass http://servers; }}
    }}
}}
"""


@dataclass(frozen=True)
class Plan:
    """What is wanted of the world."""

    servers: int = 2
    workers: int = 2
    database: str = ""  # the address of one that runs already
    sqlite: bool = False  # in the place of PostgreSQL
    small_disk: bool = False  # for SQLite
    redis: bool = True
    fake_clock: bool = False
    proxy: bool = True
    search_seconds: float = 0.02
    settings: dict[str, str] = field(default_factory=dict)


@cache
def has_workers() -> bool:
    """Tell whether ``qiusuo serve`` can have several processes."""
    told = run([sys.executable, "-m", "qiusuo", "serve", "--help"], capture_output=True, text=True, check=False)
    return "--workers" in told.stdout


class Server:
    """One ``qiusuo serve`` with its workers."""

    def __init__(self, world: World, number: int) -> None:
        self.port = free_port()
        self.clock = world.folder / f"clock-{number}"
        self.set_clock(0)
        environment = {**world.environment, "XDG_DATA_HOME": str(world.folder / f"machine-{number}")}
        if world.plan.fake_clock:
            environment |= stepped_clock(world.folder, self.clock)
        command = [sys.executable, "-m", "qiusuo", "serve", "--port", str(self.port)]
        self.workers = world.plan.workers if has_workers() else 1
        command += ["--workers", str(self.workers)] if self.workers > 1 else []
        self.program = Program(command, world.folder / f"server-{number}.log", env=environment)

    def set_clock(self, seconds: int) -> None:
        """Let it be so much later than it is."""
        set_step(self.clock, seconds)

    async def start(self) -> None:
        """Start it and wait until all its workers take requests."""
        self.program.start()
        front = Front(self.port)

        async def ready() -> bool:
            if not self.program.runs:
                raise DidNotStart(f"the server has ended: {self.program.last_words()}")
            with suppress(Exception):
                await front.call("GET", "/readyz", token="", patience=5)
                pids = self.worker_pids
                return len(pids) == self.workers and all(accepts(pid, self.port) for pid in pids)
            return False

        try:
            await wait_until(ready, START_SECONDS, "the server")
        except DidNotStart as error:
            raise DidNotStart(f"{error}\n{self.program.last_words()}") from None

    @property
    def pids(self) -> list[int]:
        return family(self.program.pid)

    @property
    def worker_pids(self) -> list[int]:
        """The processes that answer requests."""
        above, *below = self.pids
        # Beside them there may be a store that they share, or what reads a file.
        serving = [pid for pid in below if b"serving.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        return serving or [above]


class World:
    """Everything that runs; leaving it ends all of it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.folder = Path(tempfile.mkdtemp(prefix="qiusuo-chaos-"))
        self.tokens = [f"tok-chaos-0123456789-{number}" for number in range(OWNERS)]
        self.disk = self.folder / "disk"
        self.programs: list[Program] = []
        self.servers: list[Server] = []
        self.front = Front(0)
        self.environment: dict[str, str] = {}
        self.doubles: Program | None = None
        self.redis: Program | None = None
        self.postgres: Program | None = None
        self._redis_port = self._postgres_port = 0

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            self.end()
            raise
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self.end()

    def end(self) -> None:
        """End every program and remove what they have written."""
        for each in reversed(self.programs):
            each.kill()
        if self.disk.is_mount():
            run(["umount", "--lazy", str(self.disk)], capture_output=True, check=False)
        if os.environ.get("CHAOS_KEEP"):  # for whoever looks for the cause of something
            print(f"kept: {self.folder}", flush=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    async def _start(self) -> None:
        self.folder.chmod(0o755)
        model, search = free_port(), free_port()
        command = [sys.executable, "-m", "chaos.doubles", str(model), str(search), f"{self.plan.search_seconds:g}"]
        self.doubles = self._add(command, env={**os.environ, "PYTHONPATH": str(ROOT)})
        database = await self._start_database()
        self.environment = {name: value for name, value in os.environ.items() if not _SETTINGS.fullmatch(name)}
        self.environment = {name: value for name, value in self.environment.items() if not name.startswith("QIUSUO_")}
        self.environment |= {
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "QIUSUO_LANG": "en",
            "QIUSUO_DATABASE_URL": database,
            "QIUSUO_MODEL": "openai:reciter",
            "QIUSUO_MODEL_BASE_URL": f"http://127.0.0.1:{model}/v1",
            "QIUSUO_MODEL_API_KEY": "sk-reciter",
            "QIUSUO_MODEL_SEARCH": "off",
            "QIUSUO_TOKENS": ",".join(f"reader{number}:{token}" for number, token in enumerate(self.tokens)),
            "QIUSUO_TRUSTED_PROXIES": "127.0.0.1",
            "QIUSUO_LEGAL_MEANING": "false",
            "SEARXNG_URL": f"http://127.0.0.1:{search}",
            "SEARCH_PROVIDER_PRIORITY": "searxng",
            "SEARCH_RATE_LIMIT": "0",
            "NO_PROXY": "127.0.0.1,localhost",
            **self.plan.settings,
        }
        if self.plan.redis:
            self._redis_port = free_port()
            self.environment["QIUSUO_REDIS_URL"] = f"redis://127.0.0.1:{self._redis_port}/0"
            port = str(self._redis_port)
            options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
            self.redis = self._add([program("redis-server", "redis-server"), *options])
            await self.redis_answers()
        await wait_until(lambda: listens(model) and listens(search), START_SECONDS, "the model and the search engine")
        self.servers = [Server(self, number) for number in range(self.plan.servers)]
        self.programs += [server.program for server in self.servers]
        await asyncio.gather(*(server.start() for server in self.servers))
        if self.plan.proxy:
            await self._start_nginx()
        else:
            self.front = Front(self.servers[0].port)

    async def _start_nginx(self) -> None:
        port = free_port()
        # A server that does not answer is asked again after a second: two of them are no reason to wait longer.
        servers = " ".join(f"server 127.0.0.1:{server.port} max_fails=1 fail_timeout=1s;" for server in self.servers)
        file = self.folder / "nginx.conf"
        file.write_text(_NGINX.format(folder=self.folder, port=port, servers=servers))
        nginx = self._add([program("nginx", "nginx"), "-p", str(self.folder), "-e", "stderr", "-c", str(file)])
        try:
            await wait_until(lambda: listens(port), 20, "nginx")
        except DidNotStart:
            raise DidNotStart(f"nginx: {nginx.last_words()}") from None
        self.front = Front(port)

    def _add(
        self, command: list[str], *, env: Mapping[str, str] | None = None, user: tuple[int, int] | None = None
    ) -> Program:
        log = self.folder / f"{Path(command[0]).name}-{len(self.programs)}.log"
        added = Program(command, log, env=env, user=user)
        self.programs.append(added)
        added.start()
        return added

    async def _start_database(self) -> str:
        if self.plan.database:
            return self.plan.database
        if self.plan.sqlite:
            self.disk.mkdir()
            if self.plan.small_disk:
                _mount(self.disk)
            return f"sqlite:///{self.disk / 'chat.db'}"
        programs, user = _postgres_programs(), _unprivileged()
        place = self.folder / "postgres"
        place.mkdir()
        if user is not None:
            os.chown(place, *user)
        making = [str(programs / "initdb"), "-D", str(place / "data"), "-U", "qiusuo", "-A", "trust", "-E", "UTF8"]
        maker = Program([*making, "--no-sync"], self.folder / "initdb.log", user=user)
        self.programs.append(maker)
        maker.start()
        if not await maker.ended(120) or not (place / "data" / "PG_VERSION").exists():
            raise DidNotStart(f"initdb: {maker.last_words()}")
        self._postgres_port = free_port()
        # As in service: what was committed is on the disk (fsync stays on).
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._postgres_port),
            "unix_socket_directories": str(place),
            "max_connections": "200",
        }
        command = [str(programs / "postgres"), "-D", str(place / "data")]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self.postgres = self._add(command, user=user)
        await self.postgres_answers()
        return f"postgresql://qiusuo@127.0.0.1:{self._postgres_port}/postgres"

    async def redis_answers(self) -> None:
        """Wait until Redis takes connections."""
        await wait_until(lambda: listens(self._redis_port), 20, "redis-server")

    async def postgres_answers(self) -> None:
        """Wait until PostgreSQL takes connections."""
        ready = [str(_postgres_programs() / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self._postgres_port)]

        async def answers() -> bool:
            asking = await asyncio.create_subprocess_exec(*ready)
            return await asking.wait() == 0

        await wait_until(answers, START_SECONDS, "PostgreSQL")

    async def stop_postgres(self) -> None:
        """Stop PostgreSQL without waiting for its clients; nothing that was committed is lost."""
        assert self.postgres is not None
        self.postgres.send(signal.SIGINT)
        if not await self.postgres.ended(20):
            self.postgres.kill()


def _mount(folder: Path) -> None:
    """Make a small disk of its own, where this user may."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "qiusuo-chaos", str(folder)]
    with suppress(OSError):
        run(command, capture_output=True, check=False, timeout=20)


@cache
def _postgres_programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    return Path(program("postgres", "postgresql")).resolve().parent


@cache
def _unprivileged() -> tuple[int, int] | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise NotThere("there is no user to run PostgreSQL as")
