"""The interface between a server of tools and a reasoner: which tools it offers, and how one is called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from openral_reasoner.mission.agent_requests import Reply

CallProgress = Callable[[str], Awaitable[None]]
"""Takes words about a call that is under way."""


@dataclass(frozen=True)
class OfferedTool:
    """One tool as the reasoner offers it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments."""
    moves: bool
    """It may move the arm."""
    reads: bool
    """It changes nothing."""


class ToolSource(Protocol):
    """A reasoner, as far as the server needs one; `openral_reasoner.ros.tool_client.ToolClient` is one."""

    on_change: Callable[[], None]
    """Called in the thread of the server's loop when other tools are offered."""

    async def tools(self) -> Sequence[OfferedTool]:
        """Return the tools that are offered now; wait a little for a reasoner that is starting."""
        ...

    async def call(self, who: str, tool: str, arguments: Mapping[str, Any], progress: CallProgress) -> Reply:
        """Call a tool and wait for its end, however long that takes. Cancelling the coroutine cancels the call.

        Args:
            who: what the client calls itself.
            tool: its name.
            arguments: as they came.
            progress: takes words about a call that is under way.
        """
        ...
