"""Why there is no daemon."""

from __future__ import annotations

STATUS = (
    "The daemon is not running, and none is needed: the graph arrives with liveliness tokens "
    "within milliseconds, so every verb asks the network itself.\n"
)
