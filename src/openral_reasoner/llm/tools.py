"""The table of tools as the client of a language model takes them: pydantic-ai's tools, under a budget of calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic_ai import BinaryContent, ToolReturn
from pydantic_ai import Tool as ModelTool

from openral_reasoner.memory.notes_file import Memory
from openral_reasoner.mission.agent_requests import Reply, RequestQueue
from openral_reasoner.palette import Palette
from openral_reasoner.tools.table import inside_table
from openral_reasoner.tools.tool import Tool

FEW = 10
"""Calls that are left when the model is told of it in every answer."""


class CallBudget:
    """The tool calls that one mission has left."""

    def __init__(self, calls: int) -> None:
        self._left = calls

    def spend(self) -> str:
        """Count a call; return words about the rest where it is small, else nothing."""
        self._left -= 1
        return f" (tool calls left: {max(self._left, 0)})" if self._left <= FEW else ""


def make_tools(
    palette: Palette,
    requests: RequestQueue,
    memory: Memory | None,
    cameras: Sequence[str],
    *,
    sees: bool,
    locates: bool,
    max_calls: int,
) -> list[ModelTool[None]]:
    """Return the tools of one mission. All go one at a time; all but the notes go over the requests.

    Args:
        palette: the usable skills.
        requests: where requests go.
        memory: notes; None: the model keeps none.
        cameras: names of the cameras.
        sees: the model takes images.
        locates: something in the graph answers where a thing is.
        max_calls: tools it may call in the mission.
    """
    budget = CallBudget(max_calls)
    table = inside_table(palette, cameras=cameras, sees=sees, memory=memory, locates=locates)
    return [_model_tool(tool, requests, budget) for tool in table]


def _model_tool(tool: Tool, requests: RequestQueue, budget: CallBudget) -> ModelTool[None]:
    """Return a tool whose model is told in words when its arguments are wrong."""

    async def call(**given: Any) -> Any:
        left = budget.spend()
        if refusal := tool.refusal(given):
            return refusal + left
        asked = tool.ask(given)
        reply = asked if isinstance(asked, Reply) else await asyncio.wrap_future(requests.put(asked))
        if not reply.image_png:
            return reply.text + left
        image = [BinaryContent(reply.image_png, media_type="image/png")]
        return ToolReturn(return_value=reply.text + left, content=image)

    return ModelTool.from_schema(call, tool.name, tool.description, dict(tool.schema), sequential=True)
