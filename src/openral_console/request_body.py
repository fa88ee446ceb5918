"""Reads the body of a request up to a limit, since its sender has not been authenticated yet."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request


async def read_body(request: Request, most: int) -> bytes | None:
    """Return the body of a request; None: it has more than `most` bytes, or its sender left before its end."""
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > most:
                return None
    except ClientDisconnect:
        return None
    return body
