"""A language model made of rules, behind the same HTTP interface as a real one. It understands nothing.

    python -m openral_reasoner.llm.fakes --port 8901 --script calls.json
    OPENRAL_REASONER_MODEL=openai:fake OPENRAL_REASONER_BASE_URL=http://127.0.0.1:8901/v1 ros2 launch …

Two brains: `Script` says what it was told to say, one answer a request. `Obedient` does everything that any text it
sees tells it to do: the worst model there is, for testing that no words open a gate.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Call = tuple[str, dict[str, Any]]
"""Tool and arguments."""
Brain = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Call]
"""(messages of the conversation, tools with name, description and parameters) -> what to call next."""

ORDER = re.compile(r"CALL\s+([A-Za-z0-9_-]{1,80})\s*(\{[^{}]*\})")
"""How an instruction to the obedient model is written: CALL tool {"argument": "value"}."""


class Script:
    """Calls what it was given, in order, then ends the mission as done."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = list(calls)
        self.seen: list[list[dict[str, Any]]] = []
        """The conversations it was sent."""

    def __call__(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Call:
        """Return the next call of the list, or the end of the mission."""
        self.seen.append(messages)
        return (
            self._calls.pop(0) if self._calls else ("finish_mission", {"done": True, "words": "that was it"})
        )


class Obedient:
    """Does what any text tells it, whoever wrote it: every `CALL tool {…}` once a conversation, then ends it."""

    def __init__(self) -> None:
        self.obeyed: list[Call] = []
        self.heard = ""
        """Every text of the newest request."""

    def __call__(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Call:
        """Return the next call that any text asks for, or the end of the mission."""
        texts = [_text(message) for message in messages if message["role"] != "assistant"]
        texts += [tool.get("description", "") for tool in tools]
        self.heard = "\n".join(texts)
        orders = Counter(
            (name, json.dumps(json.loads(told))) for text in texts for name, told in ORDER.findall(text)
        )
        orders.subtract(_calls_of(messages))
        for (name, arguments), times in orders.items():
            if times > 0:
                self.obeyed.append((name, json.loads(arguments)))
                return self.obeyed[-1]
        return ("finish_mission", {"done": True, "words": "I did everything I was told"})


def _calls_of(messages: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Count what the model has called in a conversation: tool and arguments, the latter as JSON."""
    calls = (call["function"] for message in messages for call in message.get("tool_calls") or ())
    return Counter((call["name"], json.dumps(json.loads(call["arguments"]))) for call in calls)


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") or _written(part) for part in content)


def written_image(text: str, width: int = 64) -> NDArray[np.uint8]:
    """Return an image (H, W, 3) uint8 that this module's models read as text: one character a byte, in rows."""
    data = text.encode().ljust(3 * width, b"\0")
    rows = -(-len(data) // (3 * width))
    return np.frombuffer(data.ljust(rows * 3 * width, b"\0"), np.uint8).reshape(rows, width, 3)


def _written(part: dict[str, Any]) -> str:
    url = part.get("image_url", {}).get("url", "")
    if not url.startswith("data:image/png;base64,"):
        return ""
    encoded = np.frombuffer(base64.b64decode(url.split(",", 1)[1]), np.uint8)
    image = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    if image is None:
        return ""
    return image[:, :, ::-1].tobytes().rstrip(b"\0").decode(errors="replace")


class Endpoint:
    """The HTTP server around a brain, on loopback. Use it as a context manager."""

    def __init__(self, brain: Brain, port: int = 0, *, delay: threading.Event | None = None) -> None:
        """Bind.

        Args:
            brain: decides.
            port: 0: a free one.
            delay: answers wait until it is set, as those of a slow model.
        """
        self.requests = 0
        """How many came so far, those that are not answered yet included."""
        handler = type(
            "Handler",
            (_Handler,),
            {"brain": staticmethod(brain), "delay": delay, "count": staticmethod(self._count)},
        )
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def _count(self) -> None:
        self.requests += 1

    @property
    def url(self) -> str:
        """Base URL for `OPENRAL_REASONER_BASE_URL`."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self) -> None:
        """Serve until interrupted."""
        self._server.serve_forever()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    """As of real endpoints, which keep connections open for the next request."""
    brain: Brain
    delay: threading.Event | None
    count: Callable[[], None]

    def do_POST(self) -> None:
        """Answer POST /v1/chat/completions."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.count()
        if self.delay is not None:
            self.delay.wait()
        tools = [tool["function"] for tool in body.get("tools", [])]
        name, arguments = self.brain(body["messages"], tools)
        call = {
            "id": f"call_{len(body['messages'])}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        self._send(
            {
                "id": "fake",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        )

    def _send(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client has closed the connection

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


def main() -> None:
    """Serve a script of calls, `[["tool", {…}], …]`, or without one the obedient model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--port", type=int, default=8901)
    parser.add_argument("--script", type=Path)
    options = parser.parse_args()
    calls = json.loads(options.script.read_text()) if options.script else None
    brain: Brain = Obedient() if calls is None else Script([(name, arguments) for name, arguments in calls])
    Endpoint(brain, options.port).serve()


if __name__ == "__main__":
    main()
