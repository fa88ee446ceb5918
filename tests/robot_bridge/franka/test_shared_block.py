"""What a driver and its client's process read of each other while the other one writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from openral_robot_bridge.drivers.shared_block import SharedBlock


@pytest.fixture
def client() -> Iterator[SharedBlock]:
    block = SharedBlock()
    yield block
    block.close()


def interrupted(block: SharedBlock) -> None:
    """Leave the client's half as a writer does that lost the processor while it writes."""
    block._block["state"]["count"] += 1
    block._block["state"]["stamp"] = 7.0


def test_a_first_state_that_is_just_being_written_is_waited_for(client: SharedBlock) -> None:
    interrupted(client)

    def go_on() -> None:
        client._block["state"]["count"] += 1

    threading.Timer(0.02, go_on).start()
    assert SharedBlock(client.file).state()["stamp"] == 7.0


def test_while_a_state_is_written_the_one_before_it_holds(client: SharedBlock) -> None:
    driver = SharedBlock(client.file)
    assert driver.state()["stamp"] == 0.0
    client.say(begun=1)
    seen = float(driver.state()["stamp"])
    assert seen > 7.0
    interrupted(client)
    assert driver.state()["stamp"] == seen
