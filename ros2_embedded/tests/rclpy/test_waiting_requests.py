"""Requests that come faster than they are answered."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from rcl_interfaces.srv import ListParameters
from std_srvs.srv import SetBool

from rclpy import service as module
from rclpy.node import Node
from ros2_embedded.rosidl.classes import serialize
from ros2_embedded.session import direct


def test_the_oldest_of_too_many_requests_get_no_answer(
    node: Node, spin: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    service = node.create_service(SetBool, "switch", lambda request, response: response)
    client = node.create_client(SetBool, "switch")
    futures = [client.call_async(SetBool.Request()) for _ in range(module.MOST_REQUESTS + 20)]
    spin(lambda: all(future.done() for future in futures[20:]))
    assert not any(future.done() for future in futures[:20])
    assert service.dropped_count == 20
    assert capfd.readouterr().err.count("wait for their callback") == 1


def test_large_requests_do_not_gather(
    node: Node, spin: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10_000)
    heard: list[Any] = []

    def answer(request: Any, response: Any) -> Any:
        heard.append(len(request.prefixes[0]))
        return response

    service = node.create_service(ListParameters, "list", answer)
    client = node.create_client(ListParameters, "list")
    for size in (20_000, 4_000, 4_001, 4_002):
        client.call_async(ListParameters.Request(prefixes=["x" * size]))
    last = client.call_async(ListParameters.Request(prefixes=["x" * 30_000]))
    spin(last.done)
    assert heard == [30_000]
    assert service.dropped_count == 4


def test_a_server_that_answers_many_times_fills_no_queue(node: Node, spin: Callable[..., None]) -> None:
    client = node.create_client(SetBool, "switch")
    answers = [bytes(serialize(SetBool.Response(message=str(number)))) for number in range(50)]
    is_through = threading.Event()

    def answer(query: Any) -> None:
        for data in answers:
            query.reply(query.key_expr, data)
        query.drop()
        is_through.set()

    queryable = node.context.session.zenoh.declare_queryable(
        client._endpoint.key, direct(answer), complete=True
    )
    future = client.call_async(SetBool.Request())
    assert is_through.wait(60)
    assert len(client._replies) <= 1
    spin(future.done)
    assert future.result().message == "0"
    queryable.undeclare()
