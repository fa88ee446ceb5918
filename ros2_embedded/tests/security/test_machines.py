"""A robot behind its router, an operator on another machine, and a router between that both reach."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ros2_embedded.security import Keystore

sys.path.insert(0, str(Path(__file__).parent))
from network_machines import HUB, OPERATOR, PEERS, PORT, ROBOT, SILENCE_S, Heard, Machines, opened


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with opened(tmp_path_factory.mktemp("machines")) as found:
        yield found


class World:
    """A robot and an operator, joined by three routers."""

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        self.routers = [
            machines.router("hub", "hub"),
            machines.router(ROBOT, "robot", "--join", "--image-hz", "2"),
        ]
        self.robot = machines.run(ROBOT, str(PEERS), "robot")
        # A session of the robot's machine that was there before, and one beside it that hears it.
        self.beside = Heard(machines.run(ROBOT, str(PEERS), "operator"))
        self.routers.append(machines.router(OPERATOR, "operator", "--join"))
        self.operator = Heard(machines.run(OPERATOR, str(PEERS), "operator"))
        self.says("ready")
        self.operator.until(lambda told: told.get("state") == "ready")

    def says(self, state: str) -> None:
        self.robot.stdin.write(f"{state}\n")
        self.robot.stdin.flush()


@pytest.fixture(scope="module")
def world(machines: Machines) -> World:
    return World(machines)


def test_an_operator_hears_and_commands_a_robot_of_another_machine(world: World) -> None:
    world.operator.until(lambda told: "tick" in told)
    world.operator.stop()


@pytest.mark.slow
def test_fewer_pictures_leave_the_machine_than_are_made(world: World) -> None:
    there, here = (
        len([1 for told in heard.during(5.0) if "image" in told]) for heard in (world.operator, world.beside)
    )
    assert 1 <= there <= 12  # two a second, and what was on its way
    assert here > 2 * there


@pytest.mark.slow
def test_a_robot_goes_on_without_its_cable_and_is_known_again_with_it(world: World) -> None:
    world.machines.cable(plugged=False)
    world.operator.during(1.0)
    world.says("working alone")
    world.beside.until(lambda told: told.get("state") == "working alone")
    # Longer than the ten seconds after which Zenoh takes a silent link for dead.
    apart = world.operator.during(14.0)
    assert apart == []
    assert len([1 for told in world.beside.forget() if "tick" in told]) > 50
    world.machines.cable(plugged=True)
    world.operator.until(lambda told: told.get("state") == "working alone")
    world.operator.stop()


def test_a_router_may_die_and_come_back(world: World) -> None:
    hub = world.routers.pop(0)
    hub.kill()
    hub.wait()
    world.says("alone again")
    world.beside.until(lambda told: told.get("state") == "alone again")
    world.routers.insert(0, world.machines.router("hub", "hub"))
    world.operator.until(lambda told: told.get("state") == "alone again")
    world.operator.stop()


def test_nobody_without_a_certificate_of_the_keystore_hears_anything(world: World, tmp_path: Path) -> None:
    host = f"{HUB.format(OPERATOR)}:{PORT}"
    other = Keystore(tmp_path / "another")
    other.create()
    session = other.add("operator", connect=[host])
    strangers = [
        Heard(world.machines.run(OPERATOR, str(PEERS), "operator", **environment))
        for environment in (
            {"ZENOH_SESSION_CONFIG_URI": str(session)},
            {"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", "ROS_STATIC_PEERS": host},
        )
    ]
    world.operator.stop()
    assert [stranger.during(SILENCE_S) for stranger in strangers] == [[], []]
    assert any("tick" in told for told in world.operator.forget())


def test_a_policy_says_what_passes_between_machines_and_not_what_passes_on_one(
    world: World, tmp_path: Path
) -> None:
    everything = {action: ["/**"] for action in ("publish", "subscribe", "serve", "call")}
    robot = {"publish": ["/arm/tick", "/rosout", "/parameter_events"], "serve": ["/arm/stop"]}
    world.machines.keystore.set_policy({"hub": everything, "operator": everything, "robot": robot})
    for router in world.routers:
        router.kill()
        router.wait()
    machines = world.machines
    machines.router("hub", "hub")
    machines.router(ROBOT, "robot", "--join")
    machines.router(OPERATOR, "operator", "--join")
    world.operator.forget()
    world.operator.until(lambda told: "tick" in told)
    world.says("for this machine alone")
    world.beside.until(lambda told: told.get("state") == "for this machine alone")
    world.operator.stop()
    heard = world.operator.during(SILENCE_S)
    assert any("tick" in told for told in heard)
    assert [told for told in heard if "tick" not in told] == []
