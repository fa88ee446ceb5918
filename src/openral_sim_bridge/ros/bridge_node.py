"""The lifecycle node `/openral/sim_bridge`: the only process that moves the simulated arm."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from numpy.typing import NDArray
from openral.msg import ControlStatus
from openral.srv import ResetScene
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.task import Future

from openral_control.chunk_queue import Chunk
from openral_control.estop_latch import EStopLatch, latch_path
from openral_core.errors import OpenralError
from openral_core.guarded import GuardedCallbacks
from openral_core.types import RobotState
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.ros.admission_topics import AdmissionTopics
from openral_sim_bridge.ros.bridge_topics import BridgeTopics
from openral_sim_bridge.ros.camera_messages import to_time
from openral_sim_bridge.ros.depth_topics import DepthTopics
from openral_sim_bridge.ros.estop_services import EStop
from openral_sim_bridge.ros.position_topic import PositionTopic
from openral_sim_bridge.simulation import BridgeOptions, Simulation, read_reset

_READ_ONCE = ParameterDescriptor(read_only=True)
"""The world is built from the parameters at start; setting one later would change nothing."""


class BridgeNode(GuardedCallbacks, LifecycleNode):
    """Wires a `Simulation` to the graph. Parameters: see `BridgeOptions`, and `autostart`."""

    def __init__(self, backend_factory: Callable[..., Backend] = make_backend) -> None:
        super().__init__("sim_bridge", namespace="/openral")
        self._factory = backend_factory
        for name, default in vars(BridgeOptions(scene="metaworld_drawer")).items():
            self.declare_parameter(name, default, _READ_ONCE)
        self.declare_parameter("autostart", True, _READ_ONCE)
        self.failed: Future[str] = Future()
        """Done when the simulator has failed; the result is the reason."""
        self._simulation: Simulation | None = None
        self._topics: BridgeTopics | None = None
        self._truth: PositionTopic | None = None
        self._admission: AdmissionTopics | None = None
        self._estop: EStop | None = None
        self._status: Any = None
        self._status_lock = threading.Lock()
        """Held while a status is read and sent, so that statuses go out in the order of what they tell."""
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._lasting = self._made_entities()

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Build the world in the thread that will step it, and offer the topics and services."""
        self._closing.clear()
        self._lasting = self._made_entities()
        ready: threading.Event = threading.Event()
        self._thread = threading.Thread(target=self._live, args=(ready,), name="control", daemon=True)
        self._thread.start()
        ready.wait()
        simulation = self._simulation
        if simulation is None or self._is_second_bridge():
            return TransitionCallbackReturn.FAILURE
        if self._estop is None:
            run_dir, domain = simulation.options.run_dir, self.context.get_domain_id()
            latch = EStopLatch(latch_path(run_dir, domain, self.get_namespace()))
            self._estop = EStop(self, latch, self._switch_estop)
            self._lasting = self._made_entities()  # the stop can be pressed, and stays, in every later state
        self._topics = BridgeTopics(
            self,
            simulation.cameras,
            simulation.links,
            simulation.joint_positions,
            simulation.robot.urdf,
            DepthTopics(self, simulation.scene.cameras, simulation.cameras, simulation.depth_images),
        )
        if simulation.options.sim_positions:
            self._truth = PositionTopic(self, simulation.object_positions)
        self._status = self.create_publisher(ControlStatus, "/openral/control_status", 10)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._estop.apply()
        self._admission = AdmissionTopics(self, simulation.loop.post)
        self.create_service(ResetScene, "/openral/sim/reset", self._on_reset)
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(0.2, self._publish_status, clock=wall)
        self.create_timer(1.0, self._publish_diagnostics, clock=wall)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Let the world run."""
        if self._simulation is None:
            return TransitionCallbackReturn.FAILURE
        self._simulation.start()
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Stop the world's time; nothing moves until the next activation."""
        if self._simulation is not None:
            self._simulation.pause()
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Write the record, close the world and take back what was offered; it can be configured again."""
        self.close()
        with self._status_lock:
            self._topics = self._simulation = self._thread = self._admission = self._status = None
            self._truth = None
        publishers, subscriptions, services, timers = (
            now - before for now, before in zip(self._made_entities(), self._lasting, strict=True)
        )
        for destroy, entities in (
            (self.destroy_publisher, publishers),
            (self.destroy_subscription, subscriptions),
            (self.destroy_service, services),
            (self.destroy_timer, timers),
        ):
            for entity in entities:
                destroy(entity)
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Write the record and close the world."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def close(self) -> None:
        """End the control thread; the record is written when this returns."""
        self._closing.set()  # a world that is still being built sees this when it is ready
        if self._simulation is not None:
            self._simulation.finish()
        if self._thread is not None:
            self._thread.join(10.0)

    # The loop's observations (openral_control.control_loop.Sink), from the control thread.

    def clock(self, stamp_s: float) -> None:
        """The arm's time advanced, or the loop waits and time stands still."""
        if self._topics is not None:
            self._topics.clock(stamp_s)

    def state(self, state: RobotState) -> None:
        """The robot after a control step; `stamp_s` is the bridge's clock."""
        if self._topics is not None:
            self._topics.state(state)

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """New camera images (H, W, 3) uint8 RGB."""
        if self._topics is not None:
            self._topics.images(stamp_s, images)
        if self._truth is not None:
            self._truth.publish(stamp_s)

    def rejected(self, chunk: Chunk, reason: str) -> None:
        """A chunk was refused."""
        self.get_logger().warning(
            f"refused chunk {chunk.sequence} of {chunk.skill or 'an unnamed skill'}, the arm holds: {reason}",
            throttle_duration_sec=1.0,
        )
        self._publish_status()

    def cut_short(self, reason: str) -> None:
        """What was left of the active goal's chunk was dropped."""
        self.get_logger().warning(
            f"dropped what was left of a chunk, the arm holds: {reason}", throttle_duration_sec=1.0
        )
        self._publish_status()

    def goal_changed(self) -> None:
        """The executor's active goal is another one now."""
        self._publish_status()

    def _live(self, ready: threading.Event) -> None:
        """Body of the control thread: OpenGL contexts stay in the thread that made them."""
        try:
            simulation = Simulation(self._options(), self, self._factory)
            self._simulation = simulation
            if self._closing.is_set():
                simulation.finish()
            ready.set()
            self.get_logger().info(simulation.describe())
            simulation.live()
        except OpenralError as error:
            self._fail(str(error))
        except Exception as error:  # noqa: BLE001  a simulator raises what it likes; the process must end
            self._fail(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        finally:
            ready.set()

    def _fail(self, reason: str) -> None:
        if self.context.ok():
            self.get_logger().fatal(f"the simulation ended: {reason}")
        else:
            # Interrupted while the world was being built: imports fail in their own ways, and none is the reason.
            self.get_logger().info("interrupted before the world was there")
        self.failed.set_result(reason)

    def _made_entities(self) -> tuple[set[Any], ...]:
        return set(self.publishers), set(self.subscriptions), set(self.services), set(self.timers)

    def _options(self) -> BridgeOptions:
        values = {name: self.get_parameter(name).value for name in BridgeOptions.__dataclass_fields__}
        return BridgeOptions(**values)

    def _is_second_bridge(self) -> bool:
        """Two bridges on one domain would both publish the clock."""
        nodes = self.get_node_names_and_namespaces()
        if nodes.count((self.get_name(), self.get_namespace())) < 2:
            return False
        self._fail("another bridge runs on this ROS_DOMAIN_ID; stop it, or set another ROS_DOMAIN_ID")
        return True

    def _on_reset(self, request: Any, response: Any) -> Any:
        assert self._simulation is not None
        try:
            done = self._simulation.reset(*read_reset(request))
        except OpenralError as error:
            response.ok, response.message = False, str(error)
            return response
        response.ok, response.task, response.seed = True, done.task, done.init_id
        response.stamp = to_time(done.stamp_s)
        return response

    def _switch_estop(self, on: bool) -> None:
        """Make the arm hold, or allow it to move again; goals from before go on in neither case."""
        simulation, admission = self._simulation, self._admission
        if simulation is not None:
            simulation.executor.stop() if on else simulation.executor.release()
        if admission is not None:
            admission.end_all()
        self._publish_status()

    def _publish_status(self) -> None:
        with self._status_lock:
            if self._simulation is not None and self._status is not None:
                self._status.publish(_status_message(self._simulation))

    def _publish_diagnostics(self) -> None:
        simulation = self._simulation
        if simulation is None:
            return
        level, message, values = simulation.health()
        if self._admission is not None:
            values["refused_at_the_door"] = str(self._admission.refused)
            values["malformed"] = str(self._admission.malformed)
        status = DiagnosticStatus(
            level=level,
            name="openral/sim_bridge: control",
            hardware_id=simulation.scene.robot_id,
            message=message,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = to_time(simulation.loop.now_s)
        self._diagnostics.publish(array)


def _status_message(simulation: Simulation) -> ControlStatus:
    """Return what is executed now."""
    executor, counters = simulation.executor, simulation.executor.counters
    status = ControlStatus(
        active_goal=executor.active_goal,
        skill=executor.skill,
        instruction=executor.instruction,
        mode=simulation.options.mode,
        holding=executor.holding,
        estopped=executor.estopped,
        executed=counters.executed,
        held=counters.held,
        rejected=counters.rejected,
        expired=counters.expired,
        effective_hz=simulation.loop.effective_hz,
        real_time_factor=simulation.loop.effective_hz / simulation.scene.control_hz,
        control_hz=float(simulation.scene.control_hz),
        last_rejection=executor.last_rejection,
        rejected_goal=executor.rejected_goal,
        rejected_streak=executor.rejected_streak,
    )
    status.header.stamp = to_time(simulation.loop.now_s)
    return status


def main(args: list[str] | None = None) -> int:
    """Run the bridge until it is told to stop; 1 when the simulation failed."""
    try:
        rclpy.init(args=args)
        return _run(BridgeNode())
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    finally:
        rclpy.try_shutdown()


def _run(node: BridgeNode) -> int:
    """Start the node, serve it, and end it with its record written."""
    executor = MultiThreadedExecutor(num_threads=4)
    try:
        if node.get_parameter("autostart").value:
            node.trigger_configure()
            if not node.failed.done():
                node.trigger_activate()
        if not node.failed.done():
            rclpy.spin_until_future_complete(node, node.failed, executor=executor)
    finally:
        executor.shutdown()
        node.close()
    failed = bool(node.failed.done())
    node.destroy_node()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
