"""Calls of services from a launch."""

from __future__ import annotations

import asyncio
from typing import Any

from launch import LaunchContext

_SERVICE_POLL_S = 0.5
_REPLY_POLL_S = 0.05


async def call_service(context: LaunchContext, client: Any, request: Any) -> Any:
    """Wait for a service, call it and return its answer; None when the launch shuts down before.

    Args:
        context: the launch's state.
        client: a client of the launch's own node, which is spun in another thread.
        request: the request.
    """
    loop = context.running_loop()
    while not await loop.run_in_executor(None, client.wait_for_service, _SERVICE_POLL_S):
        if context.is_shutdown:
            return None
    reply = client.call_async(request)
    while not reply.done():
        if context.is_shutdown:
            return None
        await asyncio.sleep(_REPLY_POLL_S)
    return reply.result()
