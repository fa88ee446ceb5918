"""Goals that end by a condition or a budget, at the wire: a policy node as a process, on real topics."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import pytest
from action_msgs.msg import GoalStatus
from fake_bridge import FakeBridge, PolicyProcess, result_of, wait_for, wait_future
from openral.msg import TaskProgress

from openral_policy_nodes.goal_supervisor import GoalOutcome

WORDS = "open the drawer"
START = (0.0, 0.6, 0.2)
THERE = (0.1, 0.7, 0.3)
REACHED = '[{"name": "reached", "position": [0.1, 0.7, 0.3], "tolerance_m": 0.01}]'
CLOSE = [0.0, 0.0, 0.5, 1.0]


@pytest.fixture
def bridge() -> Iterator[FakeBridge]:
    bridge = FakeBridge()
    bridge.hand = START
    yield bridge
    bridge.close()


@pytest.fixture
def start(make_skill, scene_path) -> Iterator:
    processes: list[PolicyProcess] = []

    def run(**script) -> PolicyProcess:
        processes.append(PolicyProcess(make_skill(**script).folder, scene_path))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        print(process.log)


def place(bridge: FakeBridge, hand: tuple[float, float, float], gripper_m: float) -> None:
    """Put the hand somewhere, and see that this is known."""
    bridge.hand, bridge.gripper_m = hand, gripper_m
    seen = bridge.pictures
    wait_for(lambda: bridge.pictures > seen + 3, "pictures")


def ended(result) -> tuple[GoalOutcome, str, str]:
    return GoalOutcome(result.outcome), result.check, result.stopped_by


def test_three_goals_in_a_row_are_stopped_by_conditions_in_one_process_that_loads_once(bridge, start):
    process = start(action=CLOSE)
    pid = process.pid
    for goal in range(3):
        place(bridge, START, 0.1)
        seen = len(bridge.chunks)
        handle = bridge.send(instruction=WORDS, deadline_s=60.0, stop_when=REACHED)
        wait_for(lambda seen=seen: len(bridge.chunks) > seen + 2, "chunks of this goal")
        bridge.hand, bridge.gripper_m = THERE, 0.045
        result = result_of(handle)
        assert ended(result) == (GoalOutcome.STOPPED, "stop_when", "reached")
        assert handle.status == GoalStatus.STATUS_SUCCEEDED
        assert result.steps > 0
        hand = result.hand.position
        assert (hand.x, hand.y, hand.z) == THERE
        assert result.hand.orientation.w == 1.0
        assert result.gripper_m == 0.045
        wait_for(lambda goal=goal: len(bridge.ended) == goal + 1, "the hold")
        os.kill(pid, 0)  # it is still the process that took the first goal
    assert process.stop() == 0
    assert process.pid == pid
    assert process.log.count("is loaded") == 1
    assert process.log.count("ends STOPPED (stop_when)") == 3


def test_lifted_needs_the_fingers_to_hold_something(bridge, start):
    """The fake policy closes from its first action on; the fingers meet something, or nothing."""
    start(action=CLOSE)
    lifted = '[{"name": "lifted", "height_m": 0.05}]'
    for opening, outcome in ((0.03, GoalOutcome.DEADLINE), (0.045, GoalOutcome.STOPPED)):
        place(bridge, START, opening)
        seen = len(bridge.chunks)
        handle = bridge.send(instruction=WORDS, deadline_s=2.0, stop_when=lifted)
        wait_for(lambda seen=seen: len(bridge.chunks) > seen + 5, "chunks of this goal")
        bridge.hand = (0.0, 0.6, 0.27)
        result = result_of(handle)
        assert GoalOutcome(result.outcome) is outcome
        assert result.gripper_m == opening
        assert result.hand.position.z == 0.27


def test_a_budget_of_steps_ends_a_goal_less_than_a_chunk_late(bridge, start):
    start(action=CLOSE)
    told = []
    for _ in range(5):
        executed = bridge.status.executed
        handle = bridge.send(instruction=WORDS, deadline_s=60.0, max_steps=40)
        result = result_of(handle)
        assert ended(result) == (GoalOutcome.STOPPED, "max_steps", "max_steps")
        assert handle.status == GoalStatus.STATUS_ABORTED
        goal_id = bytes(handle.goal_id.uuid).hex()
        wait_for(lambda goal_id=goal_id: goal_id in bridge.ended, "the hold")
        told.append(result.steps)
        assert bridge.status.executed - executed >= 40 - 4
        if told[-1] < 40 + 16:
            break  # where other work delays the bridge's status, another goal shows it
    assert min(told) >= 40
    assert told[-1] < 40 + 16, told


def test_done_is_what_the_monitor_says_of_this_goal(bridge, start):
    start(action=CLOSE)
    done = '[{"name": "done", "readings": 2}]'
    refused = result_of(bridge.send(instruction=WORDS, stop_when=done))
    assert ended(refused) == (GoalOutcome.REJECTED, "stop_when", "")
    assert "no reward monitor" in refused.message
    monitor = bridge.node.create_publisher(TaskProgress, "/openral/progress", 10)
    wait_for(lambda: monitor.get_subscription_count() > 0, "the policy node's subscription")
    goal_id, ended_goal = run_once_the_monitor_is_seen(bridge, done)
    for goal, success in (
        (goal_id, 0.1),
        ("f" * 32, 0.99),
        ("f" * 32, 0.99),
        (goal_id, math.nan),
        ("x" * 99, 1.0),
    ):
        tell(bridge, monitor, goal, success)
    assert not ended_goal.done()
    tell(bridge, monitor, goal_id, 0.99)
    tell(bridge, monitor, goal_id, 0.99)
    assert ended(wait_future(ended_goal).result) == (GoalOutcome.STOPPED, "stop_when", "done")


def run_once_the_monitor_is_seen(bridge: FakeBridge, stop_when: str):
    """Send a goal until it runs, which the node refuses until it has heard of the monitor; return id and end."""
    for _ in range(100):
        handle = bridge.send(instruction=WORDS, deadline_s=60.0, stop_when=stop_when)
        goal_id, end = bytes(handle.goal_id.uuid).hex(), handle.get_result_async()
        wait_for(lambda goal_id=goal_id, end=end: end.done() or bridge.infos[-1].goal_id == goal_id, "a goal")
        if not end.done():
            return goal_id, end
    raise AssertionError("the monitor was never seen")


def tell(bridge: FakeBridge, monitor, goal_id: str, success: float) -> None:
    """Publish a reading, stamped a tenth of a second after the one before."""
    since = bridge.now_ns
    wait_for(lambda: bridge.now_ns >= since + 100_000_000, "a tenth of a second")
    message = TaskProgress(goal_id=goal_id, progress=success, success=success)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(bridge.now_ns, 10**9)
    monitor.publish(message)


def test_every_end_says_where_the_hand_is(bridge, start):
    start(action=CLOSE)
    wait_for(lambda: any(info.active for info in bridge.infos), "an active skill")
    late = result_of(bridge.send(instruction=WORDS, deadline_s=0.5))
    handle = bridge.send(instruction=WORDS, deadline_s=60.0)
    handle.cancel_goal_async()
    canceled = result_of(handle)
    refused = result_of(bridge.send(instruction=WORDS, stop_when='[{"name": "hover"}]'))
    stopping = bridge.send(instruction=WORDS, deadline_s=60.0)
    bridge.estop(True)
    stopped = result_of(stopping)
    checks = [result.check for result in (late, canceled, refused, stopped)]
    assert checks == ["deadline", "client_cancel", "stop_when", "estop"]
    for result in (late, canceled, refused, stopped):
        hand = result.hand.position
        assert (hand.x, hand.y, hand.z, result.gripper_m) == (*START, bridge.gripper_m)
        assert result.stopped_by == ""


def test_a_hand_that_nobody_saw_is_not_made_up(bridge, start):
    bridge.alive = False
    start(action=CLOSE)
    refused = result_of(bridge.send(instruction=WORDS, stop_when="{}"))
    assert refused.check == "stop_when"
    assert math.isnan(refused.hand.position.x)
    assert refused.gripper_m < 0
