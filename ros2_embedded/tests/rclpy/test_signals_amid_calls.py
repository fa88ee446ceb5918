"""A signal handler, such as a callback for shutdown, may do again what it interrupts."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from std_msgs.msg import String

import rclpy
from rclpy.node import Node

PATIENCE_S = 5.0


@pytest.fixture
def amid(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any, str, Callable[[], Any]], None]]:
    """Call it with an owner, a name of it, and what a signal handler does when the name is used first."""
    found = {number: signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGALRM)}

    def hangs(*_: object) -> None:
        raise AssertionError("the signal handler waits for what it interrupts")

    def interrupt(owner: Any, name: str, handler: Callable[[], Any]) -> None:
        original = getattr(owner, name)

        def used(*arguments: Any, **named: Any) -> Any:
            monkeypatch.setattr(owner, name, original)
            signal.raise_signal(signal.SIGUSR1)
            return original(*arguments, **named)

        monkeypatch.setattr(owner, name, used)
        signal.signal(signal.SIGUSR1, lambda *_: handler())
        signal.signal(signal.SIGALRM, hangs)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)

    yield interrupt
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    for number, handler in found.items():
        signal.signal(number, handler)


def test_publish(node: Node, amid: Callable[..., None], spin: Callable[..., None]) -> None:
    heard: list[str] = []
    node.create_subscription(String, "way", lambda message: heard.append(message.data), 10)
    publisher = node.create_publisher(String, "way", 10)
    amid(rclpy.publisher, "encode_attachment", lambda: publisher.publish(String(data="stop")))
    publisher.publish(String(data="go"))
    spin(lambda: len(heard) == 2)
    assert set(heard) == {"go", "stop"}


def test_log(node: Node, amid: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    class Sinks(dict[str, Any]):
        """Is asked while the lock is held."""

    monkeypatch.setattr(rclpy.logging, "_sinks", Sinks(rclpy.logging._sinks))
    logger, said = node.get_logger(), []
    amid(Sinks, "__contains__", lambda: said.append(logger.info("the program ends")))
    assert logger.info("the program runs")
    assert said == [True]


def test_ask_whether_all_is_well(monkeypatch: pytest.MonkeyPatch, amid: Callable[..., None]) -> None:
    monkeypatch.setattr(rclpy.utilities, "_default_context", None)
    said: list[bool] = []
    amid(rclpy.utilities, "Context", lambda: said.append(rclpy.ok()))
    assert not rclpy.ok()
    assert said == [False]
