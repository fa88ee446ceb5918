"""What the lifecycle nodes that move an arm, simulated or real, have in common."""

from __future__ import annotations

import threading
import traceback
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from numpy.typing import NDArray
from openral.msg import ControlStatus, ExecutedAction
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.executors import MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from openral_control.chunk_queue import Chunk
from openral_control.control_thread import WARN, ControlRun
from openral_control.estop_latch import EStopLatch, latch_path
from openral_control.ros.admission_topics import AdmissionTopics
from openral_control.ros.estop_services import EStop
from openral_control.ros.intervention_service import InterventionService
from openral_control.ros.message_batch import Outbox
from openral_control.ros.robot_publisher import to_time
from openral_core.errors import OpenralError
from openral_core.files.output_folder import disk_fault
from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.process.stop_signals import StopSignals
from openral_core.ros.bridge_conflict import ANOTHER, has_more_bridges
from openral_core.ros.session_certificates import SessionTrust
from openral_core.types import RobotState

EXECUTED_DEPTH = 200
"""Control steps that may wait for a subscriber: two seconds and more."""
Run = TypeVar("Run", bound=ControlRun)


class ControlNode(GuardedCallbacks, LifecycleNode, Generic[Run]):
    """Wires a `ControlRun` to the graph. A node of its own says what is run, and offers the topics of it."""

    what: str
    """What is run, for the log."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        """Declare the parameters.

        Args:
            name: of the node, in the namespace of the deployment.
            options: name of each parameter -> its default; `run_dir` is one of them. `autostart` comes on top.
        """
        super().__init__(name, namespace=DEFAULT_NAMESPACE)
        self._option_names = tuple(options)
        for option, default in {**options, "autostart": True}.items():
            # Read-only: what is controlled is built from the parameters at start. rclpy writes name and type of a
            # parameter into its descriptor, so that each needs one of its own.
            self.declare_parameter(option, default, ParameterDescriptor(read_only=True))
        self.failed: Future[str] = Future()
        """Done when the run has failed; the result is the reason."""
        self._run: Run | None = None
        self._admission: AdmissionTopics | None = None
        self._estop: EStop | None = None
        self._status: Any = None
        self._executed: Any = None
        self._status_lock = threading.Lock()
        """Held while a status is read and sent, so that statuses go out in the order of what they tell."""
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._trust, self._warned = SessionTrust.of_process(), -1
        self.outbox = Outbox()
        """What the control thread publishes at every control step goes through it."""
        self._lasting = self._made_entities()

    # -- what a node of its own says -----------------------------------------------------------------

    @abstractmethod
    def _make_run(self) -> Run:
        """Build what is run, in the thread that will step it, or raise an OpenralError."""

    @abstractmethod
    def _open(self, run: Run) -> None:
        """Offer topics and services of its own; all but the emergency stop are taken back at cleanup."""

    @abstractmethod
    def _forget(self) -> None:
        """Let go of what `_open` made."""

    @abstractmethod
    def clock(self, stamp_s: float) -> None:
        """The arm's time advanced, or the loop waits and time stands still."""

    @abstractmethod
    def state(self, state: RobotState) -> None:
        """The robot after a control step; `stamp_s` is the bridge's clock."""

    @abstractmethod
    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """New camera images (H, W, 3) uint8 RGB."""

    # -- lifecycle -----------------------------------------------------------------------------------

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Build what is run in the thread that will step it, and offer the topics and services."""
        self._closing.clear()
        self._lasting = self._made_entities()
        ready: threading.Event = threading.Event()
        self._thread = threading.Thread(target=self._live, args=(ready,), name="control", daemon=True)
        self._thread.start()
        ready.wait()
        run = self._run
        if run is None or self._is_second_bridge():
            return TransitionCallbackReturn.FAILURE
        if self._estop is None:
            run_dir, domain = str(self.get_parameter("run_dir").value), self.context.get_domain_id()
            latch = EStopLatch(latch_path(run_dir, domain, self.get_namespace()))
            self._estop = EStop(self, latch, self._switch_estop)
            self._lasting = self._made_entities()  # the stop can be pressed, and stays, in every later state
        self._open(run)
        self._status = self.create_publisher(ControlStatus, "control_status", 10)
        self._executed = self.create_publisher(ExecutedAction, "executed_action", EXECUTED_DEPTH)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._estop.apply()
        self._admission = AdmissionTopics(self, run.loop.post)
        InterventionService(self, run.executor, self._admission, self._publish_status)
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(0.2, self._publish_status, clock=wall)
        self.create_timer(1.0, self._publish_diagnostics, clock=wall)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Let time pass."""
        if self._run is None:
            return TransitionCallbackReturn.FAILURE
        self._run.start()
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Stop time; nothing moves until the next activation."""
        if self._run is not None:
            self._run.pause()
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Let go of what was run and take back what was offered; it can be configured again."""
        self.close()
        with self._status_lock:
            self._run = self._thread = self._admission = self._status = self._executed = None
            self._forget()
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
        """Let go of what was run."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def close(self) -> None:
        """End the control thread; what is recorded is written when this returns."""
        self._closing.set()  # what is still being built sees this when it is ready
        if self._run is not None:
            self._run.finish()
        if self._thread is not None:
            self._thread.join(10.0)

    # Further observations of the loop (openral_control.control_loop.Sink), from the control thread.

    def together(self) -> AbstractContextManager[None]:
        """Until it is closed, what a control step led to is kept; it goes out in one go then."""
        return self.outbox.together()

    def executed(self, stamp_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """A control step was executed."""
        publisher = self._executed
        if publisher is not None:
            message = ExecutedAction(goal_id=goal_id, held=held, data=[float(value) for value in action])
            message.header.stamp = to_time(stamp_s)
            self.outbox.send(publisher, message)

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
            run = self._make_run()
            self._run = run
            if self._closing.is_set():
                run.finish()
            ready.set()
            self.get_logger().info(run.describe())
            if run.stopped_by:
                self.get_logger().warning(f"the arm does not move: {run.stopped_by}")
            run.live()
        except OpenralError as error:
            self._fail(str(error))
        except Exception as error:  # noqa: BLE001  a simulator raises what it likes; the process must end
            fault = disk_fault(error) if isinstance(error, OSError) else None
            self._fail(fault or f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        finally:
            ready.set()

    def _fail(self, reason: str) -> None:
        if self._closing.is_set():
            # Interrupted while the run was being built: imports fail in their own ways, and none is the reason.
            self.get_logger().info(f"interrupted before {self.what} was there")
        else:
            self.get_logger().fatal(f"{self.what} ended: {reason}")
        self.failed.set_result(reason)

    def _made_entities(self) -> tuple[set[Any], ...]:
        return set(self.publishers), set(self.subscriptions), set(self.services), set(self.timers)

    def _options(self) -> dict[str, Any]:
        return {name: self.get_parameter(name).value for name in self._option_names}

    def _is_second_bridge(self) -> bool:
        """Two bridges in one namespace would both publish the robot's state."""
        second = has_more_bridges(self, self.get_namespace(), 1)
        if second:
            self._fail(ANOTHER)
        return second

    def _switch_estop(self, on: bool) -> None:
        """Make the arm hold, or allow it to move again; goals from before go on in neither case."""
        run, admission = self._run, self._admission
        if run is not None:
            run.stop() if on else run.release()
        if admission is not None:
            admission.end_all()
        self._publish_status()

    def _publish_status(self) -> None:
        with self._status_lock:
            if self._run is not None and self._status is not None:
                self._status.publish(_status_message(self._run))

    def _publish_diagnostics(self) -> None:
        run = self._run
        if run is None:
            return
        level, message, values = run.health()
        if self._admission is not None:
            values["refused_at_the_door"] = str(self._admission.refused)
            values["malformed"] = str(self._admission.malformed)
        array = DiagnosticArray(status=[self._diagnosis("control", level, message, values)])
        if certificate := self._look_at_certificate():
            array.status.append(self._diagnosis("certificate", WARN, certificate, {}))
        array.header.stamp = to_time(run.loop.now_s)
        self._diagnostics.publish(array)

    def _diagnosis(self, what: str, level: bytes, message: str, values: Mapping[str, str]) -> Any:
        return DiagnosticStatus(
            level=level,
            name=f"{self.get_fully_qualified_name().strip('/')}: {what}",
            hardware_id=self._run.scene.robot_id if self._run is not None else "",
            message=message,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )

    def _look_at_certificate(self) -> str:
        """Return what is to be said of the session's certificate, and log it as its end comes near.

        A bridge that nobody can reach any more cannot be stopped by anybody either, so that it ends.
        """
        warning, urgency = self._trust.warning(), self._trust.urgency()
        if self._trust.over:
            if not self.failed.done():
                self._fail(f"{warning}; nobody could reach this bridge, not even to stop it")
        elif warning and urgency > self._warned:
            self._warned = urgency
            self.get_logger().warning(warning)
        return warning


def _status_message(run: ControlRun) -> ControlStatus:
    """Return what is executed now."""
    executor, counters, held = run.executor, run.executor.counters, run.executor.intervention
    status = ControlStatus(
        active_goal=executor.active_goal,
        skill=executor.skill,
        instruction=executor.instruction,
        mode=run.settings.mode,
        holding=executor.holding,
        estopped=executor.estopped,
        executed=counters.executed,
        held=counters.held,
        rejected=counters.rejected,
        expired=counters.expired,
        effective_hz=run.loop.effective_hz,
        real_time_factor=run.loop.effective_hz / run.scene.control_hz,
        control_hz=float(run.scene.control_hz),
        last_rejection=executor.last_rejection,
        rejected_goal=executor.rejected_goal,
        rejected_streak=executor.rejected_streak,
        stopped_by=run.stopped_by,
        commanded_by=held.commander(executor.active_goal),
        intervention=held.phase(executor.active_goal).value,
        taken_over_by=held.operator,
        paused_goal=held.waits.goal_id if held.waits is not None else "",
    )
    status.header.stamp = to_time(run.loop.now_s)
    return status


def run_bridge(make_node: Callable[[], ControlNode[Any]], args: list[str] | None = None) -> int:
    """Start a node, serve it until it is told to stop, and end it; 1 when its run failed."""
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node: Any = None
    executor = MultiThreadedExecutor(num_threads=4)
    try:
        with StopSignals() as signals:
            node = make_node()
            executor.add_node(node)
            if node.get_parameter("autostart").value:
                node.trigger_configure()
                if not node.failed.done():
                    node.trigger_activate()
            ended: Any = Future()
            node.failed.add_done_callback(ended.set_result)
            signals.spin(executor, ended)
        return 1 if node is not None and node.failed.done() and not signals.received else 0
    finally:
        executor.shutdown()
        if node is not None:
            node.close()
            node.destroy_node()
        rclpy.try_shutdown()
