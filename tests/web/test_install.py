"""The page as a program to install: its manifest, its icons, and the worker that says when the server is away."""

from __future__ import annotations

import struct

import pytest

from qiusuo.web.static.install import MANIFEST, WORKER
from tests.support.web_server import WebServer

TOKEN = "tok-alice-0123456789"


@pytest.mark.parametrize(("wish", "name"), [("zh-CN,zh;q=0.9", "求索"), ("en-GB", "Qiusuo")])
def test_the_manifest_has_both_names_and_icons_of_the_right_size(wish: str, name: str) -> None:
    with WebServer.over("searxng", tokens=f"alice:{TOKEN}") as server:
        # Browsers send no token with it, and it tells nothing of anybody.
        answer = server.client.get(MANIFEST, headers={"Accept-Language": wish})
        assert answer.headers["content-type"] == "application/manifest+json"
        told = answer.json()
        assert (told["name"], told["id"], told["scope"], told["start_url"]) == (name, "/", "/", "/")
        assert told["name_localized"] == {"zh-CN": "求索", "zh-Hant": "求索", "en": "Qiusuo"}
        purposes = {icon["sizes"]: icon["purpose"] for icon in told["icons"] if icon["type"] == "image/png"}
        assert set(purposes) == {"192x192", "512x512"}
        assert "maskable" in {icon.get("purpose") for icon in told["icons"]}
        for icon in told["icons"]:
            found = server.client.get(icon["src"])
            assert (found.status_code, found.headers["content-type"]) == (200, icon["type"])
            if icon["type"] == "image/png":
                width, height = struct.unpack(">II", found.content[16:24])
                assert f"{width}x{height}" == icon["sizes"]


def test_the_worker_is_asked_for_anew_and_may_reach_this_server_alone() -> None:
    with WebServer.over("searxng") as server:
        page = server.client.get("/")
        assert f'href="{MANIFEST}"' in page.text
        policy = page.headers["content-security-policy"]
        assert "worker-src 'self'" in policy
        assert "manifest-src 'self'" in policy
        worker = server.client.get(WORKER)
        assert worker.headers["content-type"].startswith("text/javascript")
        assert worker.headers["cache-control"] == "no-cache"
        assert worker.headers["content-security-policy"] == "default-src 'none'; connect-src 'self'"
        assert "The server cannot be reached now." in worker.text
        assert "现在连不上服务器" in worker.text
        assert "caches" not in worker.text
