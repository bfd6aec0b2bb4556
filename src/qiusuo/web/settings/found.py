"""Model servers on this machine that answer: so that nobody has to know their ports."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from qiusuo.chat.models.vendors import VENDORS, choose
from qiusuo.config import Settings
from qiusuo.config.server import is_loopback
from qiusuo.doctor.model import listed
from qiusuo.doctor.wire import ask
from qiusuo.errors import SearchError
from qiusuo.http import Endpoint, HttpClient
from qiusuo.web.settings.keys import with_model

LOOK_SECONDS: Final = 0.9
MOST_MODELS: Final = 200
OURS: Final = "qiusuo"
# Names of models that embed, rank, listen, speak or draw; nobody can talk with them.
_NO_CHAT: Final = re.compile(
    r"embed|rerank|whisper|moderation|transcribe|dall-e|stable-diffusion"
    r"|(?<![a-z])(?:bge|gte|e5|minilm|tts|asr|clip|paraphrase)(?![a-z])",
    re.IGNORECASE,
)


def can_chat(name: str) -> bool:
    """Tell whether a model of that name may be one to talk with; many lists hold others too."""
    return _NO_CHAT.search(name) is None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a kind of server listens by default."""

    kind: str
    base_url: str

    @property
    def port(self) -> int | None:
        return urlsplit(self.base_url).port


PLACES: Final = (
    Place("ollama", "http://127.0.0.1:11434"),
    Place("lmstudio", "http://127.0.0.1:1234"),
    Place("llamacpp", "http://127.0.0.1:8080"),
    Place("vllm", "http://127.0.0.1:8000"),
)


def places_of(settings: Settings) -> tuple[Place, ...]:
    """Return the usual places; Ollama's is where ``OLLAMA_HOST`` says, if that is on this machine."""
    try:
        own = choose(with_model(settings, "ollama:*", None, None)).base_url.removesuffix("/v1")
    except SearchError:
        return PLACES
    ollama = Place("ollama", own if settings.env("OLLAMA_HOST") else PLACES[0].base_url)
    return (ollama if is_loopback(urlsplit(ollama.base_url).hostname or "") else PLACES[0], *PLACES[1:])


async def find_servers(places: Sequence[Place], own_ports: Collection[int]) -> list[dict[str, Any]]:
    """Look at all places at once, never at our own port; takes a second at most."""
    http = HttpClient(connect_timeout=LOOK_SECONDS)
    try:
        looked = (place for place in places if place.port not in own_ports)
        found = await asyncio.gather(*(_look(place, http) for place in looked))
    finally:
        await http.aclose()
    return [server for server in found if server is not None]


async def _look(place: Place, http: HttpClient) -> dict[str, Any] | None:
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            endpoint = Endpoint(http, place.kind, place.base_url, {})
            heard = await ask(endpoint, "/v1/models", timeout=LOOK_SECONDS)
    except (TimeoutError, SearchError):
        return None
    names = listed(heard.data) if heard.reply is not None else None
    names = sorted({name for name in names or () if can_chat(name)})[:MOST_MODELS]
    if not names or _is_ours(heard.data):
        return None
    vendor = VENDORS[place.kind]
    return {
        "kind": place.kind,
        "label": vendor.label,
        "base_url": place.base_url,
        "models": names,
        "use": {
            "set": {"model": f"{vendor.name}:{names[0]}", "model_base_url": f"{place.base_url}/v1"},
            "unset": ["model_api_key"],
        },
    }


def _is_ours(data: Any) -> bool:
    """Tell whether it is another Qiusuo, which would ask itself in a circle."""
    return any(isinstance(entry, dict) and entry.get("owned_by") == OURS for entry in data.get("data") or ())
