"""Composes the control of a scene's real arm: the arm, the chunk executor, the control loop and its thread."""

from __future__ import annotations

import time
from dataclasses import dataclass

from openral_control.catch_up import CatchUp
from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.control_loop import ControlLoop, LoopSettings, Sink
from openral_control.control_thread import OK, WARN, ControlRun
from openral_control.envelope import Envelope
from openral_control.safety.slow_start import SlowStart
from openral_core.hardware.arm_mode import ArmMode
from openral_core.process.announcements import arm_line
from openral_core.robot import load_robot
from openral_core.types import RobotState
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.scene_loading import load_arm_scene
from openral_sim_bridge.coordinate_frames import LinkFrames


@dataclass(frozen=True)
class ArmBridgeOptions:
    """Parameters of the bridge of a real arm."""

    scene: str
    """Name or path of a scene file with a section `arm`."""
    run_dir: str = ""
    """Folder of the run, which is not used: an emergency stop of the arm outlives it."""
    address: str = ""
    """Address of the arm; empty: the one in the scene."""
    shadow: bool = False
    """Compute all commands, but send none to the arm."""


class DeployedArm(ControlRun):
    """Runs the control loop of a real arm; stamps are wall time [s], as those of cameras and other computers are."""

    def __init__(self, options: ArmBridgeOptions, sink: Sink) -> None:
        """Connect to the arm without moving it.

        Raises:
            OpenralError: the scene is invalid, or the arm cannot be reached.
        """
        self.options = options
        scene = load_arm_scene(options.scene, options.address)
        robot = load_robot(scene.robot_id)
        self._arm = RobotArm(scene, shadow=options.shadow)
        try:
            executor = ChunkExecutor(
                scene.control_hz,
                Envelope(scene, robot),
                self._arm.hold_action,
                representation=scene.action.representation,
                catch_up=CatchUp(scene.action),
            )
            self._arm.set_lookahead(executor.coming)
            self._arm.set_on_refusal(self._end_goal)
            settings = LoopSettings({}, clock=time.time, stopped_by=lambda: self._arm.stopped_by)
            loop = ControlLoop(self._arm, executor, sink, settings, self._arm.robot_state())
            super().__init__(scene, executor, loop, settings)
            self.robot = self._arm.describe()
            self.links = LinkFrames(self.robot)
        except BaseException:
            self._arm.close()
            raise
        self.joint_positions = self._arm.joint_positions
        """Returns the present position [rad] or [m] of every joint of the URDF; call it from the control thread."""

    @property
    def stopped_by(self) -> str:
        """Reason why the arm does not move: the name of a check, with its finding on the start pose; empty: none."""
        refusal = self._arm.refusal
        return (
            f"{SlowStart.name}: {refusal}" if refusal and not self._arm.blocked_by else self._arm.stopped_by
        )

    def beat(self) -> None:
        """Record that the operator holds the hold-to-run device."""
        self._arm.beat()

    def stop(self) -> None:
        """Bring the arm to rest immediately, not at the next control step; it stays at rest until `release`."""
        self._arm.halt()
        super().stop()

    def release(self) -> None:
        """Lift the emergency stop at the operator's request; the arm moves slowly at first."""
        super().release()
        self._arm.release()

    def recover(self) -> str:
        """Recover the arm from a reflex or a fault, and return its mode afterwards. The active goal is ended.

        So the arm rests after a recovery until it gets a new goal.

        Raises:
            OpenralError: the arm does not recover, or the control loop does not answer.
        """
        self.loop.interrupt(self._recover)
        return self._arm.state.mode.value

    def describe(self) -> str:
        """Return one line with the arm's driver, its address, the control rate, and whether commands are sent."""
        arm = self.scene.arm
        assert arm is not None  # `load_arm_scene`
        how = "shadow mode, nothing is sent" if self.options.shadow else "its commands are sent"
        return arm_line(arm.driver, arm.address, self.scene.control_hz, how)

    def health(self) -> tuple[bytes, str, dict[str, str]]:
        """Return level, summary and values for `/diagnostics`; values `slowed or stopped by` count control steps."""
        level, message, values = super().health()
        state, stopped_by = self._arm.state, self.stopped_by
        values["arm"] = state.mode.value
        values["faults"] = ", ".join(state.faults)
        values["commands_in_time"] = f"{state.success_rate:.2f}"
        values["behind_rad"] = f"{self._arm.take_behind():.4f}"
        values["shadow"] = str(self.options.shadow).lower()
        values["stopped_by"] = stopped_by
        values["may_not_begin"] = self._arm.refusal
        values |= {
            f"slowed or stopped by {name}": str(count) for name, count in dict(self._arm.counts).items()
        }
        if level == OK and state.mode not in (ArmMode.IDLE, ArmMode.MOVING):
            return WARN, f"the arm is in {stopped_by or state.mode.value}; see the service recover", values
        if level == OK and stopped_by:
            return WARN, f"the arm does not move: {stopped_by}", values
        return level, message, values

    def _end_goal(self) -> None:
        if self.executor.active_goal:
            self.executor.offer(Chunk.end_of(self.executor.active_goal), 0, None)

    def _recover(self) -> RobotState:
        self._end_goal()
        self._arm.recover()
        return self._arm.robot_state()

    def _close(self) -> None:
        """Bring the arm to rest and disconnect."""
        self._arm.close()
