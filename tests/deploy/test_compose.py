"""``deploy/compose.yml``: it keeps to the specification, nothing is open that need not be, and its proxy works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from qiusuo.config import Settings
from qiusuo.kit.files import KitFolder
from tests.support.searxng_process import free_port
from tests.support.web_server import WebServer

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
TEXT = (DEPLOY / "compose.yml").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def example() -> dict[str, str]:
    lines = (DEPLOY / ".env.example").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_it_keeps_to_the_specification() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    package = pytest.importorskip("check_jsonschema", reason="check-jsonschema has the compose specification")
    schema = json.loads((resources.files(package) / "builtin_schemas" / "vendor" / "compose-spec.json").read_text())
    jsonschema.validators.validator_for(schema)(schema).validate(COMPOSE)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_confined_and_watched(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"cpus", "memory", "pids"} <= service["deploy"]["resources"]["limits"].keys()
    assert "healthcheck" in service or name == "qiusuo"  # its own stands in the image
    for volume in service["volumes"]:
        source = volume.split(":")[0]
        assert source in COMPOSE["volumes"] or (DEPLOY / source).is_file()


def test_only_the_proxy_is_reached_and_only_from_this_machine() -> None:
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"proxy"}
    ports = [re.sub(r"\$\{\w+:-(.+)\}", r"\1", port) for port in SERVICES["proxy"]["ports"]]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert all(example()[name].startswith("127.0.0.1:") for name in ("HTTP_LISTEN", "HTTPS_LISTEN"))
    assert {name for name, service in SERVICES.items() if "store" in service["networks"]} == {
        "qiusuo", "valkey", "postgres",
    }  # fmt: skip
    assert COMPOSE["networks"]["store"]["internal"] is True


def test_the_example_has_every_variable_and_no_secret() -> None:
    assert set(re.findall(r"\$\{(\w+)", TEXT)) == example().keys()
    needed = re.findall(r"\$\{(\w+):\?", TEXT)
    assert needed
    assert not any(example()[name] for name in needed)


def test_searxng_is_set_up_as_our_command_does_it(tmp_path: Path) -> None:
    KitFolder(tmp_path).write()
    for name in ("settings.yml", "limiter.toml"):
        assert (DEPLOY / "searxng" / name).read_text("utf-8") == (tmp_path / name).read_text("utf-8")


def test_qiusuo_takes_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"QIUSUO_TOKENS": "me:0123456789abcdef", "POSTGRES_PASSWORD": "secret", "FRONT_NETWORK": "172.30.80"}
    for name, text in SERVICES["qiusuo"]["environment"].items():
        monkeypatch.setenv(name, re.sub(r"\$\{(\w+)[^}]*\}", lambda found: given.get(found[1], ""), text))
    settings = Settings.load()
    assert settings.database_url is not None
    assert settings.tokens is not None
    assert (settings.model, settings.allowed_hosts) == (None, None)
    # The proxy is believed, by the one address that it is given.
    proxy = SERVICES["proxy"]["networks"]["front"]["ipv4_address"]
    assert SERVICES["qiusuo"]["environment"]["QIUSUO_TRUSTED_PROXIES"] == proxy
    assert settings.trusted_proxies == ("172.30.80.250",)


@pytest.mark.programs
@pytest.mark.skipif(shutil.which("caddy") is None, reason="caddy is not installed (Debian: caddy)")
def test_the_proxy_passes_everything_on_but_what_is_for_inside(tmp_path: Path) -> None:
    port = free_port()
    with WebServer.over("searxng") as server:
        named = {"SITE_ADDRESS": f"http://127.0.0.1:{port}", "UPSTREAM": server.url.removeprefix("http://")}
        command = ["caddy", "run", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile"]
        environment = {**os.environ, **named, "HOME": str(tmp_path)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as caddy:  # noqa: S603 - the proxy
            try:
                assert caddy.stderr is not None
                told = ""
                while "serving initial configuration" not in told:
                    told = caddy.stderr.readline()
                    assert told, "caddy ended"
                with httpx.Client(base_url=named["SITE_ADDRESS"], trust_env=False, timeout=20) as client:
                    assert client.get("/").status_code == 200
                    found = client.post("/api/search", json={"query": "tea"}, headers={"X-Request-Id": "outside-1"})
                    assert (found.status_code, found.headers["x-request-id"]) == (200, "outside-1")
                    assert [client.get(path).status_code for path in ("/metrics", "/readyz")] == [404, 404]
            finally:
                caddy.terminate()
