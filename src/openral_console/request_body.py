"""Reads the body of a request up to a limit, since its sender has not been authenticated yet."""

from __future__ import annotations

from starlette.requests import Request


async def read_body(request: Request, most: int) -> bytes | None:
    """Return the body of a request; None: it has more than `most` bytes, and the rest was not read."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            return None
    return body
