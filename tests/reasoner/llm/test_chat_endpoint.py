"""Answers of chat endpoints that are not OpenAI's: other forms of them, and errors that look like successes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from agent_table import TOOL, Table

from openral_reasoner.llm.fakes import Script
from openral_reasoner.mission.mission import MissionState

ORDER = "open the drawer and then close it again, please, as it was before"
OPEN, CLOSE = ({"task": f"drawer-{what}-v3", "why": "it was ordered"} for what in ("open", "close"))


def call(name: str, arguments: str, number: str = "a") -> dict[str, Any]:
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(*calls: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {
        **{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]},
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


FINISH = completion(call("finish_mission", json.dumps({"done": True, "words": "that was it"})))


@contextmanager
def served(*answers: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Answer requests with these bodies, in order; yield the URL and the requests."""
    left, seen = list(answers), list[Any]()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps(left.pop(0)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()


def told(requests: list[Any]) -> list[str]:
    """What the model read from its tools, in order."""
    return [message["content"] for message in requests[-1]["messages"] if message["role"] == "tool"]


@pytest.mark.parametrize("arguments", ["[]", "null", "", "{}"])
def test_no_arguments_in_any_form_are_no_arguments(arguments: str) -> None:
    with served(completion(call("query_task_progress", arguments)), FINISH) as (url, seen):
        table = Table(Script([]), base_url=url)
        table.say(ORDER)
    (words,) = told(seen)
    assert words.startswith("refused: query_task_progress: task is missing")


@pytest.mark.parametrize("arguments", ['["drawer-open-v3"]', '"drawer-open-v3"', "7"])
def test_arguments_that_are_no_object_are_refused_in_words_and_tried_again(
    arguments: str, caplog: pytest.LogCaptureFixture
) -> None:
    answers = [completion(call(TOOL, each)) for each in (arguments, json.dumps(OPEN), json.dumps(CLOSE))]
    with served(*answers, FINISH) as (url, seen):
        table = Table(Script([]), base_url=url)
        table.say(ORDER)
    assert told(seen)[0].startswith("refused")
    assert "verified by the reward monitor" in told(seen)[2]
    assert table.director.mission.state is MissionState.DONE
    assert table.words("model") == ["fake plans step by step"]
    assert not caplog.records


def test_calls_with_one_id_are_two_calls() -> None:
    both = completion(call(TOOL, json.dumps(OPEN)), call(TOOL, json.dumps(CLOSE)))
    with served(both, FINISH) as (url, seen):
        table = Table(Script([]), base_url=url)
        table.say(ORDER)
    assert [goal.instruction for goal in table.sent] == ["open the drawer", "close the drawer"]
    ids = [message["tool_call_id"] for message in seen[-1]["messages"] if message["role"] == "tool"]
    assert len(set(ids)) == 2
    assert table.words("model") == ["fake plans step by step"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": {"message": "Provider returned error", "code": 429}}, "429"),
        ({"error": {"message": "Provider returned error", "code": "overloaded"}}, "502"),
        ({"error": "Provider returned error"}, "Provider returned error"),
        ({**FINISH, "choices": []}, "its list of choices is empty"),
    ],
)
def test_an_answer_without_a_choice_is_told_in_one_line(
    answer: dict[str, Any], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with served(answer) as (url, _):
        table = Table(Script([]), base_url=url)
        table.say(ORDER)
    said = table.words("model")[-1]
    assert words in said
    assert "Provider returned error" in said or "choices" in said
    assert "validation error" not in said
    assert not caplog.records  # no traceback
