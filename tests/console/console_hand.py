"""What the tests of moving the arm by hand share: taking it in a page, and whether it moves or holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openral.msg import ActionChunk
from system_operator import Operator

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOLD_S = 0.3
"""[s] within which the arm must hold after the last sign of life."""
DT = 1 / 80
"""[s] one control step of the scene."""


class Watcher:
    """Keeps the chunks of the hand on the arm."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.chunks: list[Any] = []
        self._told = 0
        """How many of the bridge's words had come when the last of them did."""
        self._subscription = operator.subscribe(ActionChunk, "/openral/action_chunk", self._on_chunk, 100)

    def _on_chunk(self, message: Any) -> None:
        if message.skill == "openral/teleoperation" and message.horizon:
            self.chunks.append(message)
            self._told = len(self._operator.status)

    def until_driven(self) -> None:
        """Wait until the bridge executes them."""
        self._operator.until(self.driven, "a motion by hand")

    def driven(self) -> bool:
        """Whether the bridge executes one of them."""
        last = self._operator.status[-1]
        return bool(last.skill == "openral/teleoperation" and not last.holding)

    def until_held(self) -> None:
        """Wait until the arm holds for good, and see that its last chunk could not have moved it for long.

        For good: in four words of the bridge that came after the last chunk, which it may execute later than it is
        heard here.
        """
        status = self._operator.status
        self._operator.until(
            lambda: (
                len(status) >= self._told + 4
                and all(s.holding and s.executed == status[-1].executed for s in status[-4:])
            ),
            "that the arm holds",
        )
        count, seen, executed = len(self.chunks), len(status), status[-1].executed
        self._operator.until(lambda: len(status) > seen + 3, "more of the bridge's words")
        assert (len(self.chunks), status[-1].executed) == (count, executed)
        assert self.chunks[-1].horizon * DT <= HOLD_S


def take(page: Page) -> None:
    page.evaluate("document.querySelector('#take').click()")  # at once: a policy may need two seconds only
    page.wait_for_function("document.documentElement.dataset.hand == 'taken'")


def give_back(page: Page) -> None:
    """Give the arm back, where a page has it."""
    if page.evaluate("document.documentElement.dataset.hand") == "taken":
        page.click("#take")
    page.wait_for_function("document.documentElement.dataset.hand != 'taken'")
