"""The body of a request, read no further than it may be long: whoever sends it has not been let in yet."""

from __future__ import annotations

from starlette.requests import Request


async def read_body(request: Request, most: int) -> bytes | None:
    """Return the body of a request; None: it has more than `most` bytes, and the rest was not taken."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            return None
    return body
