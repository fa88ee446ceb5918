"""Announcements of a deployment's processes to its operator: their texts, and their recognition in the output."""

from __future__ import annotations

import re

STARTED_AGAIN = "it is started again"
GOES_ON_WITHOUT = "the deployment goes on without it"
MISSION_ENDED = "the mission has ended"
"""Reason of the end of a launch that is not an error."""
RECORDING_STOPPED = "recording stopped: "
"""Prefix of a recorder's message when it stops recording because of a fault."""
_ARM = "{driver} arm at {address}, {rate_hz:g} Hz, {how}"
_CONSOLE = "openral console: {url}"


def arm_line(driver: str, address: str, rate_hz: float, how: str) -> str:
    """Return the line with which a bridge announces that its arm is connected, and how it is moved."""
    return _ARM.format(driver=driver, address=address, rate_hz=rate_hz, how=how)


def console_line(url: str) -> str:
    """Return the line with the address of an operator's page."""
    return _CONSOLE.format(url=url)


def is_announcement(line: str) -> bool:
    """Return whether a line of a deployment's output contains one of these announcements."""
    return bool(_ANNOUNCED.search(line))


def _pattern(form: str) -> str:
    """Return the regular expression of a form, in which each field begins with one word."""
    return r"\S+".join(re.escape(words) for words in re.split(r"\{[^}]*\}", form))


_ANNOUNCED = re.compile("|".join(map(_pattern, (_ARM, _CONSOLE))))
