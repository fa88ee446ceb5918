"""`openral arm` prints a bridge's words, which a terminal must not obey."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import rclpy
from openral.srv import Intervene
from rclpy.executors import SingleThreadedExecutor
from typer.testing import CliRunner

from openral_control.commands import app as arm
from openral_control.ros.intervene_client import intervene
from openral_core.graph.namespaces import DEFAULT_NAMESPACE


def answer(request: Intervene.Request, response: Intervene.Response) -> Intervene.Response:
    response.success, response.message = True, "the arm\x1b[2J rests"
    return response


@pytest.fixture
def bridge() -> Iterator[None]:
    """A bridge in a context of its own, as the command has one."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("bridge", namespace=DEFAULT_NAMESPACE, context=context)
    node.create_service(Intervene, "intervene", answer)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield
    executor.shutdown()
    thread.join()
    node.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.mark.usefixtures("bridge")
def test_words_of_the_bridge_are_printable() -> None:
    said = intervene(take=True, operator="eva", patience_s=60.0, namespace=DEFAULT_NAMESPACE)
    assert said == (True, "the arm [2J rests")


@pytest.mark.usefixtures("bridge")
def test_a_user_without_an_entry_may_pause_the_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # as in a container that is run as any user
    told = CliRunner().invoke(arm, ["pause", "--patience", "60"])
    assert told.exit_code == 0, told.exception
    assert "rests" in told.output
