"""The bridge as a process, seen by another node: topics, stamps, chunks, services, lifecycle, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.srv import ChangeState, GetState
from openral.msg import ControlStatus
from openral.srv import ResetScene
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from openral_core.robot import load_robot
from openral_policy_nodes.ros.fake_node import FakePolicyNode

DOMAIN = int(os.environ["ROS_DOMAIN_ID"])
LATCHED = QoSProfile(depth=10, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
EVERY = QoSProfile(depth=1000, reliability=QoSReliabilityPolicy.BEST_EFFORT)
TOPICS = {
    "clock": (Clock, "/clock", EVERY),
    "image": (Image, "/openral/cameras/corner2/image_raw", EVERY),
    "info": (CameraInfo, "/openral/cameras/corner2/camera_info", EVERY),
    "joints": (JointState, "/joint_states", 1000),
    "pose": (PoseStamped, "/openral/ee_pose", 1000),
    "tf": (TFMessage, "/tf", 1000),
    "static": (TFMessage, "/tf_static", LATCHED),
    "urdf": (String, "/robot_description", LATCHED),
    "status": (ControlStatus, "/openral/control_status", 100),
    "estop": (Bool, "/openral/estop_state", LATCHED),
}


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


class Observer:
    """A node that keeps every message of the bridge."""

    def __init__(self, name="observer"):
        self.context = rclpy.Context()
        self.context.init(domain_id=DOMAIN)
        self.node = rclpy.create_node(name, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.seen = {key: [] for key in TOPICS}
        for key, (kind, topic, qos) in TOPICS.items():
            self.node.create_subscription(kind, topic, self.seen[key].append, qos)
        self.policy = None

    def until(self, condition, timeout=90.0):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, {key: len(value) for key, value in self.seen.items()}
            self.executor.spin_once(timeout_sec=0.05)

    def call(self, kind, name, **fields):
        client = self.node.create_client(kind, name)
        self.until(client.service_is_ready)
        future = client.call_async(kind.Request(**fields))
        self.until(future.done)
        return future.result()

    def begin(self, goal="a" * 32, **settings):
        """Announce a goal, as a policy node does."""
        if self.policy is None:
            self.policy = FakePolicyNode(self.node, "t/s", **settings)
            self.until(self.policy.chunks.get_subscription_count)
        return self.policy.begin(goal)

    def answer(self, value=0.2, **changes):
        """Publish a chunk for the newest image."""
        self.until(lambda: self.seen["image"])
        fields = {
            "instruction": "go",
            "representation": "delta_ee_3d_plus_gripper",
            "horizon": 16,
            "dim": 4,
            "dt": 0.0125,
            "data": [float(value)] * 64,
            **changes,
        }
        self.policy.send(fields.pop("stamp", self.seen["image"][-1].header.stamp), **fields)

    def status(self):
        return self.seen["status"][-1]

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def observer():
    observer = Observer()
    yield observer
    observer.close()


@pytest.fixture
def start(fake_scene):
    """Return a function that starts a bridge and ends it after the test."""
    processes = []

    def start(**parameters):
        words = [f"{k}:={v}" for k, v in {"scene": fake_scene, **parameters}.items()]
        command = [sys.executable, "-m", "openral_sim_bridge.ros.bridge_node", "--ros-args"]
        command += [word for pair in words for word in ("-p", pair)]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        if not process.stderr.closed:
            process.communicate()


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
    observer.answer(0.2)
    observer.until(lambda: any(m.active_goal == "a" * 32 and m.executed for m in observer.seen["status"]))
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


def test_emergency_stop_latches(start, observer):
    start()
    observer.begin("a" * 32)
    assert observer.call(Trigger, "/openral/estop").success
    observer.until(lambda: observer.seen["estop"] and observer.seen["estop"][-1].data)
    observer.begin("b" * 32)
    observer.answer(0.2)
    observer.until(lambda: "emergency stop" in observer.status().last_rejection)
    assert observer.status().executed == 0
    assert observer.call(Trigger, "/openral/estop_reset").success
    for goal in ("a" * 32, "b" * 32):  # what began before the release is over
        observer.begin(goal)
        held = observer.status().held
        observer.answer(0.2)
        observer.until(lambda held=held: observer.status().held > held + 40)
    assert observer.status().executed == 0
    observer.begin("c" * 32)
    observer.answer(0.2)
    observer.until(lambda: observer.status().executed > 0)


def arm(observer, *words):
    """Run `openral arm` while the observer goes on listening; return its exit code and what it said."""
    command = [str(Path(sys.executable).with_name("openral")), "arm", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    observer.until(lambda: process.poll() is not None)
    return process.returncode, process.communicate()[0]


def test_the_arm_is_paused_and_given_back_by_the_command_line(start, observer):
    start()
    observer.begin()
    observer.answer(0.2)
    observer.until(lambda: observer.status().commanded_by == "policy")
    code, said = arm(observer, "pause")
    assert code == 0, said
    observer.until(lambda: observer.status().intervention == "paused" and observer.status().holding)
    assert observer.status().commanded_by == "operator"
    assert observer.status().operator
    before = observer.status()
    observer.answer(0.2)
    observer.until(lambda: observer.status().held > before.held + 40)
    assert (observer.status().executed, observer.status().rejected) == (before.executed, 0)
    code, said = arm(observer, "resume")
    assert code == 0, said
    observer.until(lambda: observer.status().intervention == "autonomous")
    observer.seen["image"].clear()
    observer.answer(0.2)
    observer.until(lambda: observer.status().executed > before.executed)
    code, said = arm(observer, "resume")
    assert (code, "nothing to be given back" in said) == (1, True)


def moved(observer):
    """Post a good chunk of a new goal, and tell whether it is executed."""
    observer.begin(uuid4().hex)
    executed, held = observer.status().executed, observer.status().held
    observer.answer(0.2)
    observer.until(lambda: observer.status().executed > executed or observer.status().held > held + 80)
    return observer.status().executed > executed


def test_emergency_stop_outlives_every_lifecycle_state(start, observer, tmp_path):
    start(run_dir=str(tmp_path))
    observer.until(lambda: len(observer.seen["image"]) > 4)
    assert observer.call(Trigger, "/openral/estop").success
    for number in (4, 2, 1, 3):  # deactivate, cleanup, configure, activate
        transition(observer, number)
    observer.seen["image"].clear()
    observer.until(lambda: observer.seen["image"])
    observer.until(lambda: observer.seen["estop"][-1].data and observer.status().estopped)
    assert not moved(observer)
    for number in (4, 2):
        transition(observer, number)
    assert observer.call(Trigger, "/openral/estop_reset").success, "it can be reset in any state"
    for number in (1, 3):
        transition(observer, number)
    observer.until(lambda: not observer.status().estopped and not observer.seen["estop"][-1].data)
    observer.seen["image"].clear()
    assert moved(observer)


@pytest.mark.parametrize("in_a_run", [True, False])
def test_emergency_stop_outlives_the_process(start, observer, tmp_path, in_a_run):
    words = {"run_dir": str(tmp_path)} if in_a_run else {}
    first = start(**words)
    observer.until(lambda: len(observer.seen["image"]) > 4)
    assert observer.call(Trigger, "/openral/estop").success
    first.kill()
    first.communicate()
    for seen in observer.seen.values():
        seen.clear()
    second = start(**words)
    observer.until(lambda: observer.seen["image"] and observer.seen["estop"] and observer.seen["status"])
    assert observer.seen["estop"][-1].data
    assert not moved(observer)
    assert observer.call(Trigger, "/openral/estop_reset").success
    assert moved(observer)
    second.send_signal(signal.SIGINT)
    _, errors = second.communicate(timeout=90)
    assert errors.count("the emergency stop is still latched") == 1
    assert "see that all is safe, then call /openral/estop_reset" in errors
    third = start(**words)
    observer.seen["status"].clear()
    observer.until(lambda: len(observer.seen["status"]) > 3)
    assert not observer.status().estopped
    assert third.poll() is None


def test_a_stop_that_cannot_be_remembered_holds_and_says_so(start, observer, tmp_path):
    start(run_dir=str(tmp_path))
    observer.until(lambda: len(observer.seen["image"]) > 4)
    (tmp_path / "estop.json").mkdir()  # what nothing can be renamed over
    reply = observer.call(Trigger, "/openral/estop")
    assert reply.success
    assert "a bridge that is started again will not know" in reply.message
    assert str(tmp_path / "estop.json") in reply.message
    assert not moved(observer)


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
    for number in range(2000):
        observer.answer(0.01, goal_id=f"{number:032x}")
        observer.answer(np.nan, goal_id=f"{number:032x}", skill="x" * 100)
        observer.answer(0.01, goal_id="x" * 10_000)
        if number % 20 == 0:
            observer.answer(0.01)
            observer.executor.spin_once(timeout_sec=0.01)
    executed = observer.status().executed
    observer.until(lambda: observer.status().executed > executed or observer.answer(0.01))
    assert observer.status().active_goal == goal
    assert observer.status().rejected_streak == 0
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
    reply = observer.call(ResetScene, "/openral/sim/reset", task="drawer-close-v3", seed=9)
    assert (reply.ok, reply.task, reply.seed) == (True, "drawer-close-v3", 9)
    first = nanoseconds(reply.stamp)
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
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "no_such_scene" in errors
    assert "Traceback" not in errors
    process = start(mode="sideways")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "realtime, lockstep" in errors


def test_a_second_bridge_says_so_and_ends(start, observer):
    start()
    observer.until(lambda: observer.seen["image"])
    second = start()
    _, errors = second.communicate(timeout=30)
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


def transition(observer, number):
    """Ask for a lifecycle transition: 1 configure, 2 cleanup, 3 activate, 4 deactivate."""
    change = ChangeState.Request()
    change.transition.id = number
    client = observer.node.create_client(ChangeState, "/openral/sim_bridge/change_state")
    observer.until(client.service_is_ready)
    future = client.call_async(change)
    observer.until(future.done)
    assert future.result().success


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


def test_the_emergency_stop_does_not_wait_for_a_reset(start, observer):
    """The world is paused in the middle of nothing that answers: its thread builds worlds for a while."""
    start(real_time_factor=0.0)
    observer.until(lambda: len(observer.seen["image"]) > 4)
    resets = observer.node.create_client(ResetScene, "/openral/sim/reset")
    stop = observer.node.create_client(Trigger, "/openral/estop")
    observer.until(lambda: resets.service_is_ready() and stop.service_is_ready())
    waiting = [
        resets.call_async(ResetScene.Request(task="drawer-close-v3", seed=seed)) for seed in range(1000)
    ]
    answer = stop.call_async(Trigger.Request())
    observer.until(answer.done)
    assert answer.result().success
    assert sum(future.done() for future in waiting) < len(waiting)
