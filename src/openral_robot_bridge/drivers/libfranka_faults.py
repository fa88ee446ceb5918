"""What the clients of Franka arms have in common: patience, and how libfranka's words are read.

It imports nothing, since processes that only run libfranka import it.
"""

from __future__ import annotations

from typing import Any

RECOVERY_S = 2.0
"""[s] after its answer until an arm says that it is idle."""
HINT = "release the user stop, look at Desk, try again"
"""What to do with an arm that does not recover."""


def hand_lost(why: str) -> str:
    """Return the name of the fault of a hand that does not answer any more."""
    return f"hand lost ({why})"


def hand_fails(address: str, why: str) -> str:
    """Return what is said where a hand cannot be connected to."""
    return f"the hand of the arm at {address} does not answer ({why}); look at Desk, try again"


def words_of(error: Exception) -> str:
    """Return an exception's text in one line."""
    return " ".join(str(error).split()).removeprefix("libfranka: ")


def fault_names(errors: Any) -> tuple[str, ...]:
    """Return the names of the errors that are set, which libfranka prints as a list of quoted words."""
    return tuple(word for word in str(errors).strip("[]").replace('"', "").replace(",", " ").split() if word)
