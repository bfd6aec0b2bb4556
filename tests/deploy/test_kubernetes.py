"""``deploy/kubernetes`` and ``deploy/systemd``: right by their own schemas and checks, and confined."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from qiusuo.config import Settings

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
FILES = sorted(set(FOLDER.glob("*.yaml")) - {FOLDER / "kustomization.yaml"})
RESOURCES: list[dict[str, Any]] = list(
    chain.from_iterable(yaml.safe_load_all(file.read_text("utf-8")) for file in FILES)
)
PODS = {one["metadata"]["name"]: one["spec"]["template"] for one in RESOURCES if one["kind"] == "Deployment"}


def name_of(resource: dict[str, Any]) -> str:
    return f"{resource['kind']}/{resource['metadata']['name']}"


def test_everything_is_named_in_the_kustomization() -> None:
    named = {name.replace("secret.yaml", "secret.example.yaml") for name in KUSTOMIZATION["resources"]}
    assert named == {file.name for file in FILES}
    kinds = {one["kind"] for one in RESOURCES}
    assert kinds >= {
        "Deployment", "Service", "Ingress", "ConfigMap", "Secret", "NetworkPolicy", "PodDisruptionBudget",
        "HorizontalPodAutoscaler",
    }  # fmt: skip


@pytest.mark.parametrize("resource", RESOURCES, ids=name_of)
def test_it_keeps_to_the_schema_of_kubernetes(resource: dict[str, Any]) -> None:
    package = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate has the schemas of Kubernetes")
    package.validate(resource, package.latest_version(), strict=True)


@pytest.mark.parametrize("name", PODS)
def test_pods_are_confined_as_the_restricted_level_wants(name: str) -> None:
    spec = PODS[name]["spec"]
    assert spec["automountServiceAccountToken"] is False
    # Else a service called qiusuo would set QIUSUO_PORT to an address, and the server would not start.
    assert spec["enableServiceLinks"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    [container] = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert "memory" in container["resources"]["limits"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}


def test_whether_it_lives_and_whether_it_is_ready_are_two_questions() -> None:
    [container] = PODS["qiusuo"]["spec"]["containers"]
    paths = {name: probe["httpGet"]["path"] for name, probe in container.items() if name.endswith("Probe")}
    assert paths == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz?search=no"}


def test_selectors_find_the_pods() -> None:
    labels = [pod["metadata"]["labels"] for pod in PODS.values()]
    for resource in RESOURCES:
        spec = resource.get("spec", {})
        selector = spec.get("selector") or spec.get("podSelector") or {}
        wanted = selector.get("matchLabels", selector)
        assert any(wanted.items() <= one.items() for one in labels), name_of(resource)


def test_the_settings_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for resource in RESOURCES:
        for name, value in {**resource.get("data", {}), **resource.get("stringData", {})}.items():
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("QIUSUO_TOKENS", "me:0123456789abcdef")
    settings = Settings.load()
    assert (settings.log, settings.max_connections_per_address) == ("json", 4096)
    assert settings.database_url is not None
    assert settings.model is None


def test_searxng_has_the_settings_of_our_command() -> None:
    copied = (FOLDER / "searxng-settings.yml").read_text("utf-8")
    assert copied == (ROOT / "deploy" / "searxng" / "settings.yml").read_text("utf-8")


@pytest.mark.programs
@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed (Debian: systemd)"
)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_the_units_and_finds_them_confined(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    copy.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text("utf-8"), flags=re.MULTILINE))
    verify = ["systemd-analyze", "--man=no", "verify", str(copy)]
    done = subprocess.run(verify, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - systemd
    assert unit.name not in done.stderr, done.stderr  # it may have to say something about units of this machine
    limit = ["systemd-analyze", "security", "--offline=yes", "--threshold=25", "--no-pager", str(copy)]
    done = subprocess.run(limit, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - systemd
    assert done.returncode == 0, done.stdout[-500:]
