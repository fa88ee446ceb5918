"""The policy node as a process, on real topics, against a bridge that misbehaves when told to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from fake_bridge import FakeBridge, PolicyProcess, result_of, wait_for, wait_future
from lifecycle_msgs.msg import Transition

from openral_core.guarded_callbacks import EXIT_UNFIT
from openral_policy_nodes.goal_supervisor import GoalOutcome

WORDS = "open the drawer"


@pytest.fixture
def bridge() -> Iterator[FakeBridge]:
    bridge = FakeBridge()
    yield bridge
    bridge.close()


@pytest.fixture
def start(make_skill, scene_path) -> Iterator:
    processes: list[PolicyProcess] = []

    def run(manifest=None, parameters=None, **script) -> PolicyProcess:
        package = make_skill(manifest, **script)
        processes.append(PolicyProcess(package.folder, scene_path, **(parameters or {})))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        print(process.log)


def test_goal_runs_to_its_deadline_and_says_so(bridge, start):
    process = start(action=[0.5, 0.0, -0.5, 1.0])
    feedback: list = []
    handle = bridge.send(feedback, instruction=WORDS, deadline_s=1.5)
    result = result_of(handle)
    assert (GoalOutcome(result.outcome), result.check) == (GoalOutcome.DEADLINE, "deadline")
    assert handle.status == GoalStatus.STATUS_ABORTED
    assert result.duration_s == pytest.approx(1.5, abs=0.5)
    assert result.chunks == len(bridge.chunks) > 5
    assert 0 < result.latency_p50_s <= result.latency_p95_s
    assert result.steps > 0
    assert feedback[-1].state == "running"
    assert len(feedback) <= 5 * 1.5 + 3
    chunk = bridge.chunks[0]
    assert chunk.goal_id == bytes(handle.goal_id.uuid).hex()
    assert (chunk.skill, chunk.instruction, chunk.sequence) == ("tests/rskill-fake-arm", WORDS, 0)
    assert (chunk.horizon, chunk.dim, chunk.dt, chunk.header.frame_id) == (16, 4, 1 / 80, "world")
    np.testing.assert_allclose(np.reshape(chunk.data, (16, 4))[15], [0.5, 0.0, -0.5, 1.0])
    stamps = [chunk.header.stamp.sec * 10**9 + chunk.header.stamp.nanosec for chunk in bridge.chunks]
    assert len(set(stamps)) == len(stamps)
    assert all(stamp % 50_000_000 == 0 for stamp in stamps)
    assert process.stop() == 0, process.log


def test_cancel_second_goal_and_refusals(bridge, start):
    start()
    first = bridge.send(instruction=WORDS, deadline_s=60.0)
    wait_for(lambda: bridge.chunks, "a chunk")
    second = result_of(bridge.send(instruction="close the drawer"))
    assert (GoalOutcome(second.outcome), second.check) == (GoalOutcome.REJECTED, "busy")
    assert WORDS in second.message
    unknown = result_of(bridge.send(instruction=WORDS, task="fly-v3"))
    assert unknown.check == "busy"
    wait_future(first.cancel_goal_async())
    third = bridge.send(instruction="close the drawer", deadline_s=1.0)
    ended = result_of(first)
    assert (GoalOutcome(ended.outcome), ended.check) == (GoalOutcome.CANCELED, "client_cancel")
    assert first.status == GoalStatus.STATUS_CANCELED
    goal_id = bytes(first.goal_id.uuid).hex()
    wait_for(lambda: goal_id in bridge.ended, "the end of the first goal's motion")
    assert result_of(third).check == "deadline"
    assert {chunk.instruction for chunk in bridge.chunks} == {WORDS, "close the drawer"}
    refused = result_of(bridge.send(instruction=WORDS, task="fly-v3"))
    assert (GoalOutcome(refused.outcome), refused.check) == (GoalOutcome.REJECTED, "task")


def test_skill_is_latched_for_late_joiners(bridge, start):
    start()
    wait_for(lambda: any(info.active for info in bridge.infos), "an active skill")
    late = FakeBridge()
    try:
        wait_for(lambda: late.infos, "the latched skill")
        info = late.infos[-1]
    finally:
        late.close()
    assert (info.name, info.slug, info.state, info.active) == (
        "tests/rskill-fake-arm",
        "fake_arm",
        "active",
        True,
    )
    assert info.action_server == "/openral/skills/fake_arm/execute"
    assert info.node == "/openral/policy/fake_arm"
    assert list(info.examples) == ["open the drawer|pull the drawer open"]
    assert (info.control_hz, info.latency_budget_s, info.max_execution_s) == (80.0, 0.05, 20.0)


def test_skill_is_inactive_while_it_loads_and_active_when_warm(bridge, start):
    start(behaviour="slow", delay_s=1.0)
    wait_for(lambda: bridge.infos, "the first word of the skill")
    assert bridge.infos[0].state == "inactive"
    wait_for(lambda: bridge.infos[-1].active, "an active skill")
    assert [info.state for info in bridge.infos] == ["inactive", "active"]


def test_skill_that_cannot_be_loaded_takes_its_word_back(bridge, start):
    process = start(behaviour="raise")
    assert process.wait() == EXIT_UNFIT
    assert "told to fail" in process.log
    wait_for(lambda: len(bridge.infos) == 2, "the withdrawal")
    assert [info.state for info in bridge.infos] == ["inactive", "unconfigured"]


def test_deactivated_node_ends_its_goal_and_takes_none(bridge, start):
    start()
    handle = bridge.send(instruction=WORDS, deadline_s=60.0)
    wait_for(lambda: bridge.chunks, "a chunk")
    bridge.change_state(Transition.TRANSITION_DEACTIVATE)
    assert result_of(handle).check == "node_state"
    assert (bridge.infos[-1].state, bridge.infos[-1].active) == ("inactive", False)
    refused = result_of(bridge.send(instruction=WORDS))
    assert (GoalOutcome(refused.outcome), refused.check) == (GoalOutcome.REJECTED, "node_state")
    bridge.change_state(Transition.TRANSITION_ACTIVATE)
    assert result_of(bridge.send(instruction=WORDS, deadline_s=0.5)).check == "deadline"
    bridge.change_state(Transition.TRANSITION_ACTIVE_SHUTDOWN)
    wait_for(lambda: bridge.infos[-1].state == "finalized", "the farewell")


def test_camera_of_another_size_is_refused_with_both_sizes(start):
    bridge = FakeBridge(size=48)
    try:
        start()
        wait_for(lambda: any(info.active for info in bridge.infos), "an active skill")
        # The first goal may be accepted before the first frame is in; it then ends for the same reason.
        result = result_of(bridge.send(instruction=WORDS, deadline_s=20.0))
        assert result.check == "observation_contract"
        assert "48x48" in result.message
        assert "32x32" in result.message
        assert not bridge.chunks
    finally:
        bridge.close()


def test_other_encoding_in_the_middle_of_a_goal_ends_it(bridge, start):
    start()
    handle = bridge.send(instruction=WORDS, deadline_s=60.0)
    wait_for(lambda: bridge.chunks, "a chunk")
    bridge.encoding = "bgr8"
    result = result_of(handle)
    assert (GoalOutcome(result.outcome), result.check) == (GoalOutcome.FAILED, "observation_contract")
    assert "bgr8" in result.message


@pytest.mark.slow
def test_camera_that_is_wrong_by_turns_does_not_fill_the_log(bridge, start):
    process = start()
    wait_for(lambda: any(info.active for info in bridge.infos), "an active skill")
    for turn in range(60):
        bridge.encoding = ("bgr8", "rgb8")[turn % 2]
        shown = bridge.pictures
        wait_for(lambda shown=shown: bridge.pictures > shown + 1, "two pictures")
    process.stop()
    lines = [line for line in process.log.splitlines() if "bgr8" in line or "as the scene says again" in line]
    assert 1 <= len(lines) <= 20, lines


@pytest.mark.parametrize("switch", ["camera_on", "alive"])
def test_stale_camera_and_dead_bridge_end_the_goal(bridge, start, switch):
    start()
    handle = bridge.send(instruction=WORDS, deadline_s=60.0)
    wait_for(lambda: bridge.chunks, "a chunk")
    setattr(bridge, switch, False)
    result = result_of(handle)
    assert (GoalOutcome(result.outcome), result.check) == (GoalOutcome.FAILED, "stale_observation")
    setattr(bridge, switch, True)
    assert result_of(bridge.send(instruction=WORDS, deadline_s=0.5)).check == "deadline"


def test_estop_ends_the_goal_and_refuses_the_next(bridge, start):
    start()
    handle = bridge.send(instruction=WORDS, deadline_s=60.0)
    wait_for(lambda: bridge.chunks, "a chunk")
    bridge.estop(True)
    result = result_of(handle)
    assert (GoalOutcome(result.outcome), result.check) == (GoalOutcome.ESTOPPED, "estop")
    count = len(bridge.chunks)
    refused = result_of(bridge.send(instruction=WORDS))
    assert (GoalOutcome(refused.outcome), refused.check) == (GoalOutcome.REJECTED, "estop")
    assert len(bridge.chunks) <= count + 1
    bridge.estop(False)
    wait_for(
        lambda: result_of(bridge.send(instruction=WORDS, deadline_s=0.2)).check == "deadline", "the release"
    )


@pytest.mark.slow
def test_stop_and_reset_in_quick_succession_leave_no_latch(bridge, start):
    """An older ControlStatus may come after a newer /openral/estop_state; it has no say."""
    start()
    wait_for(lambda: any(info.active for info in bridge.infos), "an active skill")
    for _ in range(20):
        bridge.estop(True)
        bridge.estop(False)
        bridge.status.estopped = True
        bridge.publish_status()
        bridge.status.estopped = False
    # The release comes before the goal, on topics of their own: the first answers may still speak of the stop.
    wait_for(
        lambda: result_of(bridge.send(instruction=WORDS, deadline_s=0.3)).check == "deadline", "the release"
    )


def test_a_goal_is_announced_from_before_its_first_chunk_until_its_end(bridge, start):
    start()
    handle = bridge.send(instruction=WORDS, deadline_s=2.5)
    goal_id = bytes(handle.goal_id.uuid).hex()
    wait_for(lambda: bridge.chunks, "a chunk")
    before = bridge.heartbeats
    result_of(handle)
    assert bridge.heartbeats > before, "it says so again while it runs"
    wait_for(lambda: bridge.infos[-1].goal_id == "", "the end of the goal's announcement")
    assert [info.goal_id for info in bridge.infos if info.active] == ["", goal_id, ""]
    info = bridge.infos[-1]
    assert info.horizon_s == pytest.approx(16 / 80)
    assert info.header.stamp.sec + info.header.stamp.nanosec > 0


@pytest.mark.slow
def test_refusals_of_somebody_elses_chunks_do_not_end_the_goal(bridge, start):
    start()
    handle = bridge.send(instruction=WORDS, deadline_s=2.0)
    wait_for(lambda: bridge.chunks, "a chunk")
    for _ in range(10):
        bridge.refuse("f" * 32)
        bridge.publish_status()
    assert result_of(handle).check == "deadline"


def test_strange_messages_neither_end_a_goal_nor_swell_its_result(bridge, start):
    process = start()
    handle = bridge.send(instruction=WORDS, deadline_s=120.0)
    wait_for(lambda: bridge.chunks, "a chunk")
    bridge.observe(Time(sec=2_000_000_000))  # an observation of the year 2033
    for field in ("active_goal", "rejected_goal", "last_rejection", "mode"):
        before = getattr(bridge.status, field)
        setattr(bridge.status, field, "x" * 1_000_000)
        bridge.publish_status()
        setattr(bridge.status, field, before)
    seen = len(bridge.chunks)
    wait_for(lambda: len(bridge.chunks) > seen + 5, "more chunks")
    wait_future(handle.cancel_goal_async())
    assert result_of(handle).check == "client_cancel"
    assert process.stop() == 0
    assert len(process.log) < 10_000
    assert "ahead of the clock" in process.log


def test_goals_that_make_no_sense_are_refused_by_their_field(bridge, start, embedded):
    process = start()
    wait_for(lambda: any(info.active for info in bridge.infos), "an active skill")
    for fields, check in (
        # rcl is a C library, to which a zero byte is the end of a string.
        *([({"instruction": "open\x00the drawer"}, "instruction")] if embedded else []),
        ({"instruction": "x" * 10_000_000}, "instruction"),
        ({"instruction": WORDS, "task": "x" * 10_000_000}, "task"),
        ({"instruction": WORDS, "deadline_s": float("nan")}, "deadline"),
        ({"instruction": WORDS, "params_json": "x" * 10_000_000}, "params"),
        ({"instruction": WORDS, "stop_when": "x" * 10_000_000}, "stop_when"),
        ({"instruction": WORDS, "stop_when": '[{"name": "still", "after_s": NaN}]'}, "stop_when"),
        ({"instruction": WORDS, "stop_when": '[{"name": "' + "x" * 4000 + '"}]'}, "stop_when"),
    ):
        refused = result_of(bridge.send(**fields))
        assert (GoalOutcome(refused.outcome), refused.check) == (GoalOutcome.REJECTED, check)
        assert len(refused.message) < 300
    assert process.stop() == 0
    assert len(process.log) < 10_000


def test_nan_reaches_the_bridge_and_its_refusals_end_the_goal(bridge, start):
    start(behaviour="nan", good_calls=6)
    result = result_of(bridge.send(instruction=WORDS, deadline_s=60.0))
    assert (GoalOutcome(result.outcome), result.check) == (GoalOutcome.FAILED, "envelope")
    assert "is not finite" in result.message
    assert np.isnan(bridge.chunks[-1].data[0])


def test_raising_policy_ends_the_goal_and_the_node_lives(bridge, start):
    process = start(behaviour="raise", good_calls=5)
    result = result_of(bridge.send(instruction=WORDS, deadline_s=60.0))
    assert (GoalOutcome(result.outcome), result.check) == (GoalOutcome.FAILED, "policy_error")
    assert "told to fail" in result.message
    assert result_of(bridge.send(instruction=WORDS)).check == "policy_error"
    assert process.stop() == 0


def test_hanging_policy_neither_blocks_cancel_nor_the_end_of_the_process(bridge, start):
    process = start(behaviour="hang", good_calls=4, parameters={"inference_timeout_s": 2.0})
    handle = bridge.send(instruction=WORDS, deadline_s=60.0)
    wait_for(lambda: len(bridge.chunks) == 2, "the last good chunks")
    wait_future(handle.cancel_goal_async())
    assert result_of(handle).check == "client_cancel"
    wait_for(lambda: result_of(bridge.send(instruction=WORDS)).check == "policy_error", "the refusal")
    assert process.stop() == 0


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        ({"license": "rlwrld_non_commercial"}, "licence"),
        ({"sensors_required": [{"modality": "rgb", "vla_feature_key": "observation.images.wrist"}]}, "wrist"),
        ({"model_family": "telepathy"}, "needed telepathy; install"),
    ],
)
def test_unfit_skill_ends_the_process_before_anything_is_offered(start, manifest, text):
    process = start(manifest)
    assert process.wait() == EXIT_UNFIT
    assert "cannot run" in process.log
    assert text in process.log


@pytest.mark.parametrize(
    ("name", "value"),
    [("default_deadline_s", 90000.0), ("default_deadline_s", 0.0), ("inference_timeout_s", -1.0)],
)
def test_a_duration_that_would_never_come_or_at_once_ends_the_process(start, name, value):
    process = start(parameters={name: value})
    assert process.wait() == EXIT_UNFIT
    assert f"parameter {name} is {value:g}; give seconds" in process.log


@pytest.mark.slow
def test_a_bug_at_start_has_another_exit_code_than_a_skill_that_is_unfit(make_skill, scene_path):
    program = (
        "import sys\n"
        "from openral_policy_nodes.ros import policy_node\n"
        "def load(package, device): raise RuntimeError('a bug')\n"
        "policy_node.load_policy = load\n"
        f"words = ['-p', 'skill:={make_skill().folder}', '-p', 'scene:={scene_path}']\n"
        "sys.exit(policy_node.main(['x', '--ros-args', *words]))\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=90, check=False
    )
    assert process.returncode == 1
    assert "a bug" in process.stderr


@pytest.mark.slow
def test_a_goal_that_waits_for_an_operator_lasts_as_long_as_its_bridge(bridge, start):
    start()
    feedback: list = []
    handle = bridge.send(feedback, instruction=WORDS, deadline_s=1.0)
    wait_for(lambda: bridge.chunks, "a chunk")
    bridge.status.intervention = "paused"
    wait_for(lambda: feedback and feedback[-1].state == "waiting", "the wait")
    waited = len(feedback)
    wait_for(lambda: len(feedback) > waited + 25, "a wait of five seconds, longer than the goal's deadline")
    assert feedback[-1].state == "waiting"
    bridge.alive = False
    result = result_of(handle)
    assert (GoalOutcome(result.outcome), result.check) == (GoalOutcome.FAILED, "stale_observation")
    assert "while an operator had the arm" in result.message
