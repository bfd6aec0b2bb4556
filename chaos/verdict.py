"""What is true after a fault, by what the API tells, against what the readers were told."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Final

from chaos.reader import Reader
from chaos.wire import Refused, Unreachable

SETTLE_SECONDS: Final = 40.0
"""So long an end that could not be saved at once may take to be saved once all is well."""


@dataclass
class Verdict:
    """The count over all readers."""

    asked: int = 0
    whole: int = 0
    broken_off: int = 0
    unsent: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unheard: list[str] = field(default_factory=list)
    unsaved: int = 0
    text_lost: float = 0.0  # seconds of text that a reader had seen and that is not kept
    silence: float = 0.0
    doubt: float = 0.0


async def judge(readers: list[Reader]) -> Verdict:
    """Look at every conversation and count."""
    verdict = Verdict(asked=len(readers))
    end = time.monotonic() + SETTLE_SECONDS
    places = asyncio.Semaphore(8)

    async def look(reader: Reader) -> None:
        async with places:
            await _judge_one(verdict, reader, end)

    await asyncio.gather(*(look(reader) for reader in readers))
    return verdict


async def _judge_one(verdict: Verdict, reader: Reader, end: float) -> None:
    verdict.silence = max(verdict.silence, reader.longest_silence)
    verdict.doubt = max(verdict.doubt, reader.longest_doubt)
    if not reader.session:
        verdict.unsent += 1
        return
    while True:
        try:
            shown = await reader.front.call("GET", reader.path, token=reader.token, source=reader.source)
        except (Refused, Unreachable) as error:
            if time.monotonic() > end:
                verdict.lost.append(f"{reader.name}: the conversation cannot be shown: {error}")
                return
            await asyncio.sleep(1)
            continue
        turns: list[dict[str, Any]] = shown["turns"]
        kept = next((turn for turn in turns if turn["id"] == reader.turn), None)
        right = kept is not None and kept["state"] != "running" and _is_kept(reader, kept)
        if right or not reader.turn or time.monotonic() > end or reader.told_as_saved:
            break
        if reader.done is None and kept is not None and not shown["running"]:
            break
        await asyncio.sleep(1)
    count(verdict, reader, turns, kept)


def count(verdict: Verdict, reader: Reader, turns: list[dict[str, Any]], kept: dict[str, Any] | None) -> None:
    """Compare what is kept with what a reader was told."""
    if len(turns) > 1:
        verdict.doubled.append(f"{reader.name}: {len(turns)} turns for one question")
    for text in (reader.streamed, *(turn["answer"] for turn in turns)):
        if not reader.expected.startswith(text.strip()):
            verdict.doubled.append(f"{reader.name}: not what the model said: …{_apart(reader.expected, text)!r}")
    if kept is None:
        if reader.turn:
            verdict.lost.append(f"{reader.name}: the turn is not there")
        else:
            verdict.unsent += not turns
        return
    if reader.done is None and reader.polled is None:
        verdict.unheard.append(f"{reader.name}: never told how it ended ({reader.trouble[-1:]})")
    if reader.told_as_saved and not _is_kept(reader, kept):
        verdict.lost.append(
            f"{reader.name}: told as saved with {len(reader.streamed)} characters ({_state(reader.done)}), "
            f"kept {len(kept['answer'])} ({kept['state']})"
        )
    elif reader.done is not None and not _is_kept(reader, kept):
        verdict.unsaved += 1
    missing = len(reader.streamed.split()) - len(kept["answer"].split())
    verdict.text_lost = max(verdict.text_lost, missing / reader.pace)
    if kept["answer"].strip() == reader.expected and kept["state"] == "done":
        verdict.whole += 1
    else:
        verdict.broken_off += 1


def _is_kept(reader: Reader, kept: dict[str, Any]) -> bool:
    """Tell whether the answer is kept as its reader has seen it."""
    if reader.done is None:
        return True
    told = reader.done["answer"].strip()
    # Where a server died, the end that is told may be shorter than what was shown: that is told, and counted as text.
    shown = told == reader.streamed.strip() or reader.done["state"] != "done"
    return bool(kept["answer"].strip() == told and shown and kept["state"] == reader.done["state"])


def _state(done: dict[str, Any] | None) -> str:
    return str(done["state"]) if done else "no end seen"


def _apart(expected: str, text: str) -> str:
    at = next((n for n, (one, other) in enumerate(zip(expected, text, strict=False)) if one != other), len(expected))
    return text[max(0, at - 20) : at + 40]
