"""Timeouts and messages that the clients of Franka arms share, and the parsing of libfranka's errors.

This module has no dependencies, as processes that only run libfranka import it.
"""

from __future__ import annotations

from typing import Any

RECOVERY_S = 5.0
"""[s] timeout after a successful recovery until the arm's mode is idle, within which brakes may open."""
HINT = "release the user stop, look at Desk, try again"
"""Advice for an arm that does not recover."""


def hand_lost(why: str) -> str:
    """Return the fault of a hand that does not answer any more."""
    return f"hand lost ({why})"


def hand_fails(address: str, why: str) -> str:
    """Return the error message for a hand that cannot be connected to."""
    return f"the hand of the arm at {address} does not answer ({why}); look at Desk, try again"


def words_of(error: Exception) -> str:
    """Return an exception's message in one line, without libfranka's prefix."""
    return " ".join(str(error).split()).removeprefix("libfranka: ")


def fault_names(errors: Any) -> tuple[str, ...]:
    """Return the names of the errors that are set; libfranka prints them as a list of quoted names."""
    return tuple(word for word in str(errors).strip("[]").replace('"', "").replace(",", " ").split() if word)
