"""Versions of the Franka Control Interface (FCI), the arms that use them, and the error for a mismatch."""

from __future__ import annotations

import re

from openral_robot_bridge.driver import ArmAwayError, ArmError

PANDA_VERSION, FR3_VERSION = 5, 10
"""FCI versions of the drivers' clients: libfranka 0.9.2 of panda-python, and libfranka 0.21 of franky-control."""
_DRIVERS = {PANDA_VERSION: "panda", FR3_VERSION: "franka"}
_PANDA, _OLD_FR3, _FR3 = (
    "a Panda of firmware 4.x",
    "an FR3 of a system image before 5.9",
    "an FR3 of system image 5.9 or newer",
)
_SPEAKERS = {PANDA_VERSION: _PANDA, 6: _OLD_FR3, 7: _OLD_FR3, 8: _OLD_FR3, 9: _OLD_FR3, FR3_VERSION: _FR3}
"""Arms by the FCI version that they use, from libfranka's compatibility table."""
_MISMATCH = (
    re.compile(r"server version: (\d+), library version: \d+"),
    re.compile(r"speaks protocol version (\d+),"),
)
"""Messages of libfranka and of panda-python, with the arm's version."""


def refused(address: str, words: str, client: str, version: int) -> ArmError:
    """Return the error for a connection that an arm refused.

    Args:
        address: of its controller.
        words: error message of the client.
        client: name and version of the client.
        version: of the FCI that the client uses.
    """
    found = next((match for match in (pattern.search(words) for pattern in _MISMATCH) if match), None)
    if found is None:
        hint = "is it switched on, unlocked, with FCI active in Desk, and its address right?"
        return ArmAwayError(f"the arm at {address} cannot be used: {words}; {hint}")
    theirs = int(found.group(1))
    fix = (
        "update the arm's system image to 5.9 or newer, and write `driver: franka` in the scene's section arm"
    )
    if theirs in _DRIVERS:
        fix = f"write `driver: {_DRIVERS[theirs]}` in the scene's section arm, and the robot that it is"
    return ArmError(
        f"the arm at {address} speaks version {theirs} of the FCI ({_SPEAKERS.get(theirs, 'an unknown arm')}), "
        f"{client} speaks version {version} ({_SPEAKERS[version]}); {fix}"
    )
