"""Orders to a recorder whose writing thread is held up, as by a disk that does not answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from std_srvs.srv import Trigger

from openral_data.ros import recorder_node
from openral_data.ros.recorder_node import RecorderNode


@pytest.fixture
def node(fake_scene: Path, tmp_path: Path) -> Iterator[RecorderNode]:
    rclpy.init(args=["--ros-args", "-p", f"scene:={fake_scene}", "-p", f"folder:={tmp_path / 'recording'}"])
    node = RecorderNode()
    yield node
    node.close()
    node.destroy_node()
    rclpy.try_shutdown()


def ordered(node: RecorderNode, name: str) -> tuple[bool, str]:
    """Return the answer of a service of the recorder."""
    [service] = [each for each in node.services if each.srv_name.endswith(f"recorder/{name}")]
    answer = service.callback(Trigger.Request(), Trigger.Response())
    return answer.success, answer.message


def hold(node: RecorderNode) -> threading.Event:
    """Hold the writing thread up until the event is set."""
    held, released = threading.Event(), threading.Event()

    def wait() -> None:
        held.set()
        released.wait()

    node._work.put(wait)
    held.wait()
    return released


def test_messages_that_nothing_takes_do_not_fill_the_memory(
    node: RecorderNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_node, "WAITING_MESSAGES", 50)
    released = hold(node)
    [joints] = [each for each in node.subscriptions if each.topic_name.endswith("/joint_states")]
    for _ in range(200):
        joints.callback(b"")
    waiting = node._work.qsize()
    released.set()
    assert waiting == 50


def test_an_order_of_which_nothing_came_in_time_is_not_obeyed_later(
    node: RecorderNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = hold(node)
    with monkeypatch.context() as changed:
        changed.setattr(recorder_node, "ORDER_S", 0.1)
        done, words = ordered(node, "start")
    assert (done, words.startswith("the recorder is busy, nothing came of it")) == (False, True)
    released.set()
    assert ordered(node, "stop") == (False, "no episode is being recorded that could be stopped")


def test_an_order_that_fails_is_answered_at_once(node: RecorderNode, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> tuple[bool, str]:
        raise OSError("the disk is gone")

    monkeypatch.setattr(node._recorder, "start", fails)
    assert ordered(node, "start") == (False, "it failed: the disk is gone")
