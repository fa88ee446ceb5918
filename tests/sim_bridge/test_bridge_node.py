"""The bridge as a process, seen by another node: topics, stamps, chunks, services, lifecycle, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from bridge_observer import DOMAIN, EVERY, Observer, nanoseconds, transition
from lifecycle_msgs.srv import ChangeState, GetState
from openral.msg import ExecutedAction
from openral.srv import ResetScene
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, SetParameters
from sensor_msgs.msg import CompressedImage

from openral_core.image_message import decode_compressed
from openral_core.robot import load_robot


def test_topics_carry_one_world_on_one_clock(start, observer):
    start()
    observer.until(lambda: len(observer.seen["image"]) > 12 and len(observer.seen["status"]) > 3)
    seen = observer.seen
    images = {nanoseconds(m.header.stamp): m for m in seen["image"]}
    stamps = {key: {nanoseconds(m.header.stamp) for m in seen[key]} for key in ("joints", "pose", "info")}
    inner = sorted(images)[2:-2]
    assert set(inner) <= stamps["joints"]
    assert set(inner) <= stamps["pose"]
    assert set(inner) <= stamps["info"]
    assert set(inner) <= {nanoseconds(m.transforms[0].header.stamp) for m in seen["tf"]}
    assert set(np.diff(inner)) == {50_000_000}
    clocks = [nanoseconds(m.clock) for m in seen["clock"]]
    assert np.all(np.diff(clocks) > 0)
    image, info = seen["image"][-1], seen["info"][-1]
    assert (image.height, image.width, image.encoding, image.step) == (48, 64, "rgb8", 192)
    assert len(image.data) == 48 * 64 * 3
    assert image.header.frame_id == info.header.frame_id == "corner2_optical_frame"
    assert info.k[2] == 32 and info.k[5] == 24 and info.p[3] == 0  # noqa: PT018
    assert seen["joints"][-1].name == [*load_robot("sawyer").joint_names, "r_close"]
    assert seen["joints"][-1].position[7] == pytest.approx(0.1)
    status = seen["status"][-1]
    assert status.holding and status.held > 0 and status.executed == 0  # noqa: PT018
    assert status.control_hz == 80.0


def test_pictures_come_as_jpeg_on_the_stamps_of_the_raw_ones(start, observer):
    start()
    topic = "/openral/cameras/corner2/image_raw/compressed"
    packed = []
    observer.node.create_subscription(CompressedImage, topic, packed.append, EVERY)
    observer.until(lambda: len(packed) > 4)
    message = packed[-1]
    observer.until(
        lambda: nanoseconds(observer.seen["image"][-1].header.stamp) >= nanoseconds(message.header.stamp)
    )
    [raw] = [m for m in observer.seen["image"] if m.header.stamp == message.header.stamp]
    shown = decode_compressed(message.data).astype(int)
    pixels = np.frombuffer(raw.data, np.uint8).reshape(raw.height, raw.width, 3)
    assert message.header.frame_id == raw.header.frame_id
    assert np.abs(shown - pixels).mean() < 8 < np.abs(shown[:, ::-1] - pixels).max()


def test_in_lockstep_every_control_step_is_told_in_order_and_as_it_was(start, observer):
    start(mode="lockstep")
    observer.until(lambda: observer.seen["image"])
    observer.begin()
    for _ in range(3):
        newest = nanoseconds(observer.seen["image"][-1].header.stamp)
        observer.answer(0.2)
        observer.until(lambda newest=newest: nanoseconds(observer.seen["image"][-1].header.stamp) > newest)
    last = nanoseconds(observer.seen["image"][-1].header.stamp)
    observer.until(lambda: nanoseconds(observer.seen["pose"][-1].header.stamp) >= last)
    # A waiting bridge repeats its newest observation; each control step counts once.
    at = {nanoseconds(m.header.stamp): m.pose.position.x for m in observer.seen["pose"]}
    assert list(at) == sorted(at)
    steps = [stamp for stamp in at if last - 150_000_000 <= stamp <= last]
    assert np.diff(steps).tolist() == 12 * [12_500_000]
    assert np.diff([at[stamp] for stamp in steps]) == pytest.approx(12 * [0.002], abs=1e-6)
    assert set(steps) <= {nanoseconds(m.header.stamp) for m in observer.seen["joints"]}


def test_a_late_listener_gets_description_and_static_frames(start, observer):
    start()
    observer.until(lambda: len(observer.seen["image"]) > 4)
    late = Observer()
    try:
        late.until(lambda: late.seen["urdf"] and late.seen["static"] and late.seen["estop"])
    finally:
        late.close()
    assert 'robot name="sawyer"' in late.seen["urdf"][0].data
    children = {t.child_frame_id: t.header.frame_id for t in late.seen["static"][0].transforms}
    assert children == {"right_arm_base_link": "world", "corner2_optical_frame": "world"}
    assert not late.seen["estop"][0].data


def test_a_chunk_moves_the_arm_and_a_bad_one_is_refused_aloud(start, observer):
    process = start()
    observer.until(lambda: len(observer.seen["image"]) > 4)
    before = observer.seen["pose"][-1].pose.position.x
    observer.begin()
    observer.answer_until(
        lambda: any(m.active_goal == "a" * 32 and m.executed for m in observer.seen["status"])
    )
    observer.until(lambda: observer.seen["pose"][-1].pose.position.x > before + 0.01)
    observer.answer(np.nan)
    observer.until(lambda: any(m.rejected for m in observer.seen["status"]))
    refusal = next(m for m in observer.seen["status"] if m.rejected)
    assert "finite" in refusal.last_rejection
    observer.until(lambda: observer.seen["status"][-1].holding)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=90)
    assert "refused chunk 0 of t/s, the arm holds: finite" in errors
    assert process.returncode == 0


def arm(observer, *words):
    """Run `openral arm` while the observer goes on listening; return its exit code and what it said."""
    command = [str(Path(sys.executable).with_name("openral")), "arm", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    observer.until(lambda: process.poll() is not None)
    return process.returncode, process.communicate()[0]


def test_the_arm_is_paused_and_given_back_by_the_command_line(start, observer):
    start()
    observer.begin()
    observer.answer_until(lambda: observer.status().commanded_by == "policy")
    code, said = arm(observer, "pause")
    assert code == 0, said
    observer.until(lambda: observer.status().intervention == "paused" and observer.status().holding)
    assert observer.status().commanded_by == "operator"
    assert observer.status().taken_over_by
    before = observer.status()
    observer.answer(0.2)
    observer.until(lambda: observer.status().held > before.held + 40)
    assert (observer.status().executed, observer.status().rejected) == (before.executed, 0)
    code, said = arm(observer, "resume")
    assert code == 0, said
    observer.until(lambda: observer.status().intervention == "autonomous")
    observer.seen["image"].clear()
    observer.answer_until(lambda: observer.status().executed > before.executed)
    code, said = arm(observer, "resume")
    assert (code, "nothing to be given back" in said) == (1, True)


def test_chunks_of_goals_that_nobody_announces_move_nothing(start, observer):
    process = start()
    observer.until(lambda: len(observer.seen["image"]) > 4)
    observer.begin("a" * 32)
    observer.answer(0.2, goal_id="e" * 32)  # an invented goal
    observer.answer(0.2, skill="t/other")  # another's skill
    held = observer.status().held
    observer.until(lambda: observer.status().held > held + 80)
    assert (observer.status().executed, observer.status().rejected) == (0, 0)
    observer.answer(0.2)
    observer.until(lambda: observer.status().executed > 0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=90)
    assert "no active node announces goal " + "e" * 32 in errors or "the chunk says t/other" in errors


def test_a_flood_of_strangers_does_not_touch_the_running_goal(start, observer, tmp_path):
    process = start(run_dir=str(tmp_path))
    observer.until(lambda: len(observer.seen["image"]) > 4)
    goal = observer.begin(uuid4().hex)
    observer.answer(0.01)
    observer.until(lambda: observer.status().active_goal == goal)
    for number in range(500):
        observer.answer(0.01, goal_id=f"{number:032x}")
        observer.answer(np.nan, goal_id=f"{number:032x}", skill="x" * 100)
        observer.answer(0.01, goal_id="x" * 10_000)
        if number % 20 == 0:
            observer.answer(0.01)
            observer.executor.spin_once(timeout_sec=0.01)
    executed = observer.status().executed
    observer.until(lambda: observer.status().executed > executed or observer.answer(0.01))
    assert observer.status().active_goal == goal
    observer.until(
        lambda: observer.status().rejected_streak == 0 or observer.answer(0.01)
    )  # its own may be late
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=90)
    assert np.load(tmp_path / "truth.npz")["goals"].tolist() == ["", goal]
    assert (tmp_path / "truth.npz").stat().st_size < 10_000_000


def test_horizon_and_future_have_limits(start, observer):
    start()
    observer.until(lambda: len(observer.seen["image"]) > 4)
    observer.begin(horizon_s=0.2)
    observer.answer(horizon=17, data=[0.0] * 68)
    observer.until(
        lambda: "horizon: 17 steps last 0.213 s, allowed 0.200 s" in observer.status().last_rejection
    )
    ahead = observer.seen["image"][-1].header.stamp
    ahead = type(ahead)(sec=ahead.sec + 100, nanosec=ahead.nanosec)
    observer.answer(stamp=ahead)
    observer.until(lambda: "freshness" in observer.status().last_rejection)
    observer.policy.horizon_s = 1000.0
    observer.policy.announce()
    observer.answer(horizon=500, data=[0.0] * 2000)
    observer.until(lambda: "last 6.250 s, allowed 5.000 s" in observer.status().last_rejection)
    assert observer.status().executed == 0


def test_motion_ends_when_its_sender_lets_go(start, observer):
    start()
    observer.until(lambda: len(observer.seen["image"]) > 4)
    observer.begin(horizon_s=5.0)
    observer.answer(0.001, horizon=400, data=[0.001, 0.0, 0.0, 0.0] * 400)
    observer.until(lambda: observer.status().executed > 0)
    observer.policy.end()  # without a word on /openral/action_chunk
    observer.until(lambda: not observer.status().active_goal and observer.status().holding)
    assert observer.status().executed < 400


def test_motion_ends_when_its_sender_dies(start, observer):
    """Five seconds of motion are planned when the node that planned them leaves the graph without a word."""
    start()
    observer.until(lambda: len(observer.seen["image"]) > 4)
    sender = Observer("sender")  # a name of its own: the bridge knows by it who is gone
    sender.begin(horizon_s=5.0)
    sender.until(lambda: sender.seen["status"])
    sender.answer(horizon=400, data=[0.001, 0.0, 0.0, 0.0] * 400)
    sender.until(lambda: sender.status().executed > 0)
    count = len(observer.seen["status"])
    observer.until(lambda: len(observer.seen["status"]) > count + 5)  # the bridge has seen it in the graph
    sender.close()
    observer.until(lambda: observer.status().holding and not observer.status().active_goal)
    assert observer.status().executed < 350  # silence alone ends it after five seconds


def test_reset_puts_the_arm_back_and_refuses_unknown_tasks(start, observer):
    start()
    steps = []
    observer.node.create_subscription(ExecutedAction, "/openral/executed_action", steps.append, 200)
    observer.until(lambda: steps)
    reply = observer.call(ResetScene, "/openral/sim/reset", task="drawer-close-v3", seed=9)
    assert (reply.ok, reply.task, reply.seed) == (True, "drawer-close-v3", 9)
    first = nanoseconds(reply.stamp)
    observer.until(lambda: nanoseconds(steps[-1].header.stamp) > first)
    assert [nanoseconds(m.header.stamp) for m in steps if not m.data] == [first], "no step led there"
    observer.until(lambda: any(nanoseconds(m.header.stamp) == first for m in observer.seen["pose"]))
    pose = next(m for m in observer.seen["pose"] if nanoseconds(m.header.stamp) == first)
    assert pose.pose.position.y == pytest.approx(0.609)
    for fields in ({"seed": 2**40}, {"task": "x" * 10_000}, {"task": "drawer\x00"}):
        reply = observer.call(ResetScene, "/openral/sim/reset", **fields)
        assert not reply.ok
        assert len(reply.message) < 200
    reply = observer.call(ResetScene, "/openral/sim/reset", task="juggle", seed=0)
    assert not reply.ok
    assert "drawer-open-v3" in reply.message


def test_lifecycle_deactivation_stops_time(start, observer):
    start()
    observer.until(lambda: len(observer.seen["image"]) > 4)
    change = ChangeState.Request()
    change.transition.id = 4  # deactivate
    client = observer.node.create_client(ChangeState, "/openral/sim_bridge/change_state")
    observer.until(client.service_is_ready)
    future = client.call_async(change)
    observer.until(future.done)
    assert future.result().success
    assert observer.call(GetState, "/openral/sim_bridge/get_state").current_state.label == "inactive"
    count = len(observer.seen["status"])
    observer.until(lambda: len(observer.seen["status"]) > count + 2)
    frozen = nanoseconds(observer.seen["status"][-1].header.stamp)
    count = len(observer.seen["status"])
    observer.until(lambda: len(observer.seen["status"]) > count + 2)
    assert nanoseconds(observer.seen["status"][-1].header.stamp) == frozen


def test_a_wrong_scene_or_parameter_ends_the_process_with_its_reason(start):
    process = start(scene="no_such_scene")
    _, errors = process.communicate(timeout=90)
    assert process.returncode == 1
    assert "no_such_scene" in errors
    assert "Traceback" not in errors
    process = start(mode="sideways")
    _, errors = process.communicate(timeout=90)
    assert process.returncode == 1
    assert "realtime, lockstep" in errors


def test_a_second_bridge_says_so_and_ends(start, observer):
    start()
    observer.until(lambda: observer.seen["image"])
    second = start()
    _, errors = second.communicate(timeout=90)
    assert second.returncode == 1
    assert "another bridge runs" in errors


def test_a_failing_simulator_ends_the_process_with_its_reason(fake_scene):
    program = (
        "import sys\n"
        "from functools import partial\n"
        "from openral_sim_bridge.ros import bridge_node\n"
        "from openral_sim_bridge.backends.fake import FakeBackend\n"
        "node = bridge_node.BridgeNode\n"
        "make = lambda scene: FakeBackend(['drawer-open-v3'], width=64, height=48, fail_after=40)\n"
        "bridge_node.BridgeNode = lambda: node(make)\n"
        f"sys.exit(bridge_node.main(['x', '--ros-args', '-p', 'scene:={fake_scene}']))\n"
    )
    environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "OMP_NUM_THREADS": "1"}
    process = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 1
    assert "the simulation ended: the fake simulator fails after 40 steps" in process.stderr


def test_cleanup_closes_the_world_and_configure_builds_it_again(start, observer, tmp_path):
    start(run_dir=str(tmp_path))
    observer.until(lambda: len(observer.seen["image"]) > 4)
    transition(observer, 4)
    transition(observer, 2)
    assert (tmp_path / "truth.npz").is_file()
    names = [name for name, _ in observer.node.get_service_names_and_types()]
    observer.until(lambda: "/openral/sim/reset" not in dict(observer.node.get_service_names_and_types()))
    assert "/openral/sim_bridge/change_state" in names
    transition(observer, 1)
    transition(observer, 3)
    seen = len(observer.seen["image"])
    observer.until(lambda: len(observer.seen["image"]) > seen + 4)
    assert observer.call(ResetScene, "/openral/sim/reset", task="drawer-close-v3", seed=9).ok


def test_parameters_that_are_read_once_refuse_to_be_set(start, observer):
    start()
    request = SetParameters.Request()
    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value="lockstep")
    request.parameters = [Parameter(name="mode", value=value)]
    reply = observer.call(SetParameters, "/openral/sim_bridge/set_parameters", parameters=request.parameters)
    assert not reply.results[0].successful
    assert "read" in reply.results[0].reason
    told = observer.call(
        DescribeParameters, "/openral/sim_bridge/describe_parameters", names=["mode", "init_id"]
    )
    assert [(row.name, row.type) for row in told.descriptors] == [
        ("mode", ParameterType.PARAMETER_STRING),
        ("init_id", ParameterType.PARAMETER_INTEGER),
    ]
