"""Base class of the lifecycle nodes that move a simulated or real arm."""

from __future__ import annotations

import threading
import traceback
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
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
from openral_control.estop_latch import EStopLatch
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
"""Queue depth of the topic of executed actions, in control steps: at least 2 s at up to 100 Hz."""
Run = TypeVar("Run", bound=ControlRun)


class ControlNode(GuardedCallbacks, LifecycleNode, Generic[Run]):
    """Connects a `ControlRun` to the graph. A subclass builds the run and offers its own topics and services."""

    what: str
    """What is run, in words for the log."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        """Declare the parameters.

        Args:
            name: of the node, in the namespace of the deployment.
            options: default of each parameter by name, including `run_dir`; `autostart` (True) is added.
        """
        super().__init__(name, namespace=DEFAULT_NAMESPACE)
        self._option_names = tuple(options)
        for option, default in {**options, "autostart": True}.items():
            # Read-only, since the run is built from the parameters at the start. rclpy writes name and type of a
            # parameter into its descriptor, so that each parameter needs its own.
            self.declare_parameter(option, default, ParameterDescriptor(read_only=True))
        self.failed: Future[str] = Future()
        """Done when the run has failed; the result is the reason."""
        self._run: Run | None = None
        self._admission: AdmissionTopics | None = None
        self._estop: EStop | None = None
        self._status: Any = None
        self._executed: Any = None
        self._status_lock = threading.Lock()
        """Held while a status is read and published, so that statuses are published in the order of their content."""
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._trust, self._warned = SessionTrust.of_process(), -1
        self.outbox = Outbox()
        """Publishes the messages of the control thread."""
        self._lasting = self._made_entities()

    # -- methods of subclasses -----------------------------------------------------------------------

    @abstractmethod
    def _make_run(self) -> Run:
        """Build the run, in the thread that will step it, or raise an OpenralError."""

    @abstractmethod
    def _latch_file(self, run: Run) -> Path:
        """Return the path of the file that keeps the emergency stop beyond the life of this node."""

    @abstractmethod
    def _open(self, run: Run) -> None:
        """Offer the subclass's topics and services; `on_cleanup` destroys all of them but the emergency stop."""

    @abstractmethod
    def _forget(self) -> None:
        """Drop the references to what `_open` created."""

    # Sink (openral_control.control_loop), called from the control thread.

    @abstractmethod
    def clock(self, stamp_s: float) -> None:
        """Publish the arm's time [s]."""

    @abstractmethod
    def state(self, state: RobotState) -> None:
        """Publish the robot's state after a control step."""

    @abstractmethod
    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Publish new camera images (H, W, 3) uint8 RGB, by camera."""

    # -- lifecycle -----------------------------------------------------------------------------------

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Build the run in the thread that will step it, and offer the topics and services."""
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
            self._estop = EStop(self, EStopLatch(self._latch_file(run)), self._switch_estop)
            self._lasting = self._made_entities()  # the emergency stop remains available in every later state
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
        """Start the control steps."""
        if self._run is None:
            return TransitionCallbackReturn.FAILURE
        self._run.start()
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Pause the control steps until the next activation."""
        if self._run is not None:
            self._run.pause()
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """End the run and destroy its topics and services; the node can be configured again."""
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
        """End the run."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def close(self) -> None:
        """End the control thread and wait up to 10 s for it, so that recordings are complete."""
        self._closing.set()  # checked by `_live` once the run is built
        if self._run is not None:
            self._run.finish()
        if self._thread is not None:
            self._thread.join(10.0)

    # Further methods of Sink (openral_control.control_loop), called from the control thread.

    def together(self) -> AbstractContextManager[None]:
        """Return a context in which messages are buffered; they are published at its end."""
        return self.outbox.together()

    def executed(self, stamp_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """Publish an executed control step."""
        publisher = self._executed
        if publisher is not None:
            message = ExecutedAction(goal_id=goal_id, held=held, data=[float(value) for value in action])
            message.header.stamp = to_time(stamp_s)
            self.outbox.send(publisher, message)

    def begin(self, stamp_s: float) -> None:
        """Publish that no control step led to the next state, by an executed action without data."""
        self.executed(stamp_s, np.zeros(0, np.float32), True, "")

    def rejected(self, chunk: Chunk, reason: str) -> None:
        """Log that a chunk was refused, and publish the status."""
        self.get_logger().warning(
            f"refused chunk {chunk.sequence} of {chunk.skill or 'an unnamed skill'}, the arm holds: {reason}",
            throttle_duration_sec=1.0,
        )
        self._publish_status()

    def cut_short(self, reason: str) -> None:
        """Log that the rest of the active goal's chunk was dropped, and publish the status."""
        self.get_logger().warning(
            f"dropped what was left of a chunk, the arm holds: {reason}", throttle_duration_sec=1.0
        )
        self._publish_status()

    def goal_changed(self) -> None:
        """Publish the status after a change of the active goal."""
        self._publish_status()

    def _live(self, ready: threading.Event) -> None:
        """Build and step the run, in the control thread, since an OpenGL context belongs to the thread that made it."""
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
        except Exception as error:  # noqa: BLE001  a simulator may raise any exception; the process must end
            fault = disk_fault(error) if isinstance(error, OSError) else None
            self._fail(fault or f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        finally:
            ready.set()

    def _fail(self, reason: str) -> None:
        if self._closing.is_set():
            # The run was interrupted while it was built; any error of an import is a consequence and not the reason.
            self.get_logger().info(f"interrupted before {self.what} was there")
        else:
            self.get_logger().fatal(f"{self.what} ended: {reason}")
        self.failed.set_result(reason)

    def _made_entities(self) -> tuple[set[Any], ...]:
        return set(self.publishers), set(self.subscriptions), set(self.services), set(self.timers)

    def _options(self) -> dict[str, Any]:
        return {name: self.get_parameter(name).value for name in self._option_names}

    def _is_second_bridge(self) -> bool:
        """Fail and return True if another bridge is in this namespace, since both would publish the robot's state."""
        second = has_more_bridges(self, self.get_namespace(), 1)
        if second:
            self._fail(ANOTHER)
        return second

    def _switch_estop(self, on: bool) -> None:
        """Stop the arm or allow it to move again; all present goals end in both cases."""
        run, admission = self._run, self._admission
        if on and run is not None:
            run.stop()
        if admission is not None:
            admission.end_all()
        if not on and run is not None:
            run.release()  # last, so that the arm is free for new goals only
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
        """Return the warning about the session's certificate, and log it each time it becomes more urgent.

        When the certificate has expired, the bridge ends, since no node could reach it to stop it.
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
    """Return the present status of a run."""
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
    """Create a node, spin it until a stop signal or the failure of its run, and close it.

    Returns:
        Exit status: 1 if the run failed without a stop signal, else 0.
    """
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
