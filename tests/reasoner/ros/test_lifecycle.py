"""The reasoner's life cycle, twice over, and the transitions that are not there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
import rclpy.parameter
from openral.msg import Mission, Prompt, SkillInfo
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node

from openral_core.ros.qos import LATCHED, SKILLS
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Proposal
from openral_reasoner.ros.reasoner_node import ReasonerNode


@pytest.mark.parametrize(
    "word", ["OPENRAL_ACCEPT_NONCOMMERCIAL", "OPENRAL_ALLOW_NONCOMMERCIAL", "SOMETHING_ELSE"]
)
def test_accepted_terms_hold_for_the_whole_deployment(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """What the policy node may load, the reasoner may use."""
    monkeypatch.setenv(word, "1")
    rclpy.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node = ReasonerNode()
    try:
        assert node.get_parameter("commercial").value is (word == "SOMETHING_ELSE")
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def node() -> Iterator[ReasonerNode]:
    rclpy.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node = ReasonerNode()
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


def test_round_trip_twice_then_shutdown(node: ReasonerNode) -> None:
    for _ in range(2):
        for step in ("configure", "activate", "deactivate", "cleanup"):
            assert getattr(node, f"trigger_{step}")() is TransitionCallbackReturn.SUCCESS, step
    assert node.trigger_shutdown() is TransitionCallbackReturn.SUCCESS


def test_idle_mission_is_latched_for_late_listeners(node: ReasonerNode) -> None:
    node.trigger_configure()
    node.trigger_activate()
    listener = Node("listener")
    heard: list[str] = []
    listener.create_subscription(
        Mission, "/openral/mission", lambda mission: heard.append(mission.state), LATCHED
    )
    for _ in range(50):
        rclpy.spin_once(listener, timeout_sec=0.1)
        if heard:
            break
    listener.destroy_node()
    assert heard == ["idle"]


def test_a_threshold_out_of_range_refuses_to_configure(node: ReasonerNode) -> None:
    node.declare_parameter("gate.success_threshold", 1.5)
    assert node.trigger_configure() is TransitionCallbackReturn.FAILURE


def test_a_full_disk_ends_the_record_and_not_the_mission() -> None:
    """`/dev/full` takes no byte."""
    rclpy.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node = ReasonerNode()
    folder = Path(tempfile.mkdtemp())
    (folder / "mission.jsonl").symlink_to("/dev/full")
    try:
        for name, value in (("run_dir", str(folder)), ("mission", "open the drawer")):
            node.set_parameters([rclpy.parameter.Parameter(name, value=value)])
        assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
        assert node.trigger_activate() is TransitionCallbackReturn.SUCCESS
        assert node.get_parameter("mission").value == "open the drawer"
        assert node.trigger_deactivate() is TransitionCallbackReturn.SUCCESS
        assert node.trigger_cleanup() is TransitionCallbackReturn.SUCCESS
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
        shutil.rmtree(folder)


def test_a_run_folder_that_cannot_be_made_refuses_to_configure(node: ReasonerNode) -> None:
    node.set_parameters([rclpy.parameter.Parameter("run_dir", value="/proc/nope")])
    assert node.trigger_configure() is TransitionCallbackReturn.FAILURE


def test_a_record_that_is_no_mission_refuses_to_configure_and_is_closed(
    node: ReasonerNode, tmp_path: Path
) -> None:
    (tmp_path / "mission.json").write_text("{")
    node.set_parameters([rclpy.parameter.Parameter("run_dir", value=str(tmp_path))])
    assert node.trigger_configure() is TransitionCallbackReturn.FAILURE
    opened = [os.path.realpath(path) for path in Path("/proc/self/fd").iterdir()]
    assert str(tmp_path / "mission.jsonl") not in opened


def ordered(node: ReasonerNode, **values: str) -> None:
    node.set_parameters([rclpy.parameter.Parameter(name, value=value) for name, value in values.items()])


def recorded(folder: Path) -> tuple[str, str]:
    mission = json.loads((folder / "mission.json").read_text())
    return mission["text"], mission["state"]


def test_a_shutdown_stops_the_mission(node: ReasonerNode, tmp_path: Path) -> None:
    ordered(node, run_dir=str(tmp_path), mission="open the drawer")
    node.trigger_configure()
    node.trigger_activate()
    assert recorded(tmp_path) == ("open the drawer", "active")
    assert node.trigger_shutdown() is TransitionCallbackReturn.SUCCESS
    assert recorded(tmp_path) == ("open the drawer", "stopped")


def test_the_order_of_the_launch_is_taken_once_and_another_one_when_it_is_given(
    node: ReasonerNode, tmp_path: Path
) -> None:
    """Who deactivated the reasoner and activates it again does not mean that the arm moves at once."""
    ordered(node, run_dir=str(tmp_path), mission="open the drawer")
    node.trigger_configure()
    for _ in range(2):
        node.trigger_activate()
        node.trigger_deactivate()
    steps = [json.loads(line) for line in (tmp_path / "mission.jsonl").read_text().splitlines()]
    assert [step["kind"] for step in steps] == ["prompt", "mission"]
    ordered(node, mission="close the drawer")
    node.trigger_activate()
    assert recorded(tmp_path) == ("close the drawer", "active")
    node.trigger_deactivate()
    node.trigger_cleanup()
    node.trigger_configure()
    node.trigger_activate()
    assert recorded(tmp_path) == ("close the drawer", "active"), "configured anew, it begins anew"


class BrokenPlanner:
    """Raises whatever it is asked."""

    def plan(self, sentence: str, palette: Palette) -> Proposal:
        """Raise."""
        raise ZeroDivisionError("a bug")


def test_a_bug_ends_the_mission_and_not_the_process() -> None:
    rclpy.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node, other = ReasonerNode(BrokenPlanner()), Node("other")
    heard: list[Mission] = []
    other.create_subscription(Mission, "/openral/mission", heard.append, LATCHED)
    prompts = other.create_publisher(Prompt, "/openral/prompt", 10)
    skills = other.create_publisher(SkillInfo, "/openral/skills", SKILLS)
    info = SkillInfo(
        name="a/b",
        kind="vla",
        node="/openral/b",
        action_server="/openral/skills/b/execute",
        active=True,
        commercial_use=True,
        tasks=["t"],
        examples=["open the drawer"],
    )
    executor = rclpy.executors.SingleThreadedExecutor()
    try:
        node.trigger_configure()
        node.trigger_activate()
        for each in (node, other):
            executor.add_node(each)
        for number, text in enumerate(("open the drawer", "close the drawer")):
            prompt = Prompt(id=f"p{number}", text=text)
            for turn in range(400):
                if turn % 10 == 0:
                    skills.publish(info)
                    prompts.publish(prompt)
                executor.spin_once(timeout_sec=0.1)
                if any(mission.id == prompt.id and mission.state == "failed" for mission in heard):
                    break
            assert "an internal error" in heard[-1].message, [mission.message for mission in heard]
    finally:
        executor.shutdown()
        for each in (node, other):
            each.destroy_node()
        rclpy.try_shutdown()
