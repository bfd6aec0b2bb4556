"""Nothing moves by itself where the reader has asked for that (prefers-reduced-motion)."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from qiusuo.testing import Fault
from tests.support.page_world import PageWorld, screen, with_own_browser
from tests.support.scripted_model import Reply

pytestmark = with_own_browser(__name__)

_MOVING = "document.getAnimations().filter((one) => one.playState === 'running').length"
_SMOOTH = "[...document.querySelectorAll('*')].filter((e) => getComputedStyle(e).scrollBehavior !== 'auto').length"
# In one task: what scrolls smoothly has not arrived at its end.
_TO_THE_LATEST = """() => {
  const box = document.querySelector(".scroller");
  document.querySelector(".latest").click();
  return box.scrollHeight - box.scrollTop - box.clientHeight;
}"""


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_what_moves(chromium: Browser, motion: Literal["reduce", "no-preference"]) -> None:
    long = Reply.text("很长的回答。\n\n" * 200)
    with PageWorld(long, timeout=3) as world, screen(chromium, world, reduced_motion=motion) as page:
        seconds = page("html").evaluate("() => getComputedStyle(document.querySelector('.knob')).transitionDuration")
        assert (seconds == "0s") is (motion == "reduce")
        page.turn_search_on()
        world.engine().fault = Fault.HANG
        page.send("搜索会等很久")
        expect(page(".round.running .dot")).to_be_visible()
        assert (page.page.evaluate(_MOVING) == 0) is (motion == "reduce")
        page.ended()
        page("article h2").scroll_into_view_if_needed()
        expect(page(".latest")).to_be_visible()
        assert page.page.evaluate(_MOVING) == 0, "what has ended rests"
        assert page.page.evaluate(_TO_THE_LATEST) < 2
        assert page.page.evaluate(_SMOOTH) == 0
