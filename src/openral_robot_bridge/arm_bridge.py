"""A scene's real arm under the control loop: arm, executor, loop, and the thread that owns them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from openral_control.chunk_executor import ChunkExecutor
from openral_control.control_loop import ControlLoop, LoopSettings, Sink
from openral_control.control_thread import OK, WARN, ControlRun
from openral_control.envelope import Envelope
from openral_control.safety.slow_start import SlowStart
from openral_core.process.announcements import arm_line
from openral_core.robot import load_robot
from openral_core.types import RobotState
from openral_robot_bridge.driver import ArmMode
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.scene_loading import load_arm_scene
from openral_sim_bridge.coordinate_frames import LinkFrames


@dataclass(frozen=True)
class ArmBridgeOptions:
    """Parameters of the bridge."""

    scene: str
    """Name or path of a scene file with a section `arm`."""
    run_dir: str = ""
    """Folder of the run, where an emergency stop is remembered; empty: it is remembered for the machine's user."""
    address: str = ""
    """Of the arm; empty: the scene's."""
    shadow: bool = False
    """Do everything, but send nothing to the arm."""


class DeployedArm(ControlRun):
    """Owns an arm. Stamps are wall time, so that those of cameras and of other computers can be compared with them."""

    def __init__(self, options: ArmBridgeOptions, sink: Sink) -> None:
        """Connect to the arm; nothing moves.

        Raises:
            OpenralError: the scene is wrong, or the arm cannot be reached.
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
            )
            self._arm.set_lookahead(executor.coming)
            settings = LoopSettings(camera_periods={}, clock=time.time)
            loop = ControlLoop(self._arm, executor, sink, settings, self._arm.robot_state())
            super().__init__(scene, executor, loop, settings)
            self.robot = self._arm.describe()
            self.links = LinkFrames(self.robot)
        except BaseException:
            self._arm.close()
            raise
        self.joint_positions = self._arm.joint_positions
        """Present position of every joint of the URDF; call it from the control thread."""

    @property
    def stopped_by(self) -> str:
        """What keeps the arm from moving: its check's name, and the pose where that is in the way; empty: nothing."""
        refusal = self._arm.refusal
        return (
            f"{SlowStart.name}: {refusal}" if refusal and not self._arm.blocked_by else self._arm.stopped_by
        )

    def beat(self) -> None:
        """Note a sign of life of the operator."""
        self._arm.beat()

    def stop(self) -> None:
        """Bring the arm to rest now, not at the next control step; it holds until `release`."""
        self._arm.halt()
        super().stop()

    def release(self) -> None:
        """Undo the emergency stop by hand; the arm is slow at first."""
        super().release()
        self._arm.release()

    def recover(self) -> str:
        """Leave a reflex or a fault; return the arm's mode then. Goals from before do not go on.

        Raises:
            OpenralError: the arm stays in it, or the loop does not answer.
        """
        self.loop.interrupt(self._recover)
        return self._arm.state.mode.value

    def describe(self) -> str:
        """Return one line about the arm and how it is moved."""
        arm = self.scene.arm
        assert arm is not None  # `load_arm_scene`
        how = "shadow mode, nothing is sent" if self.options.shadow else "its commands are sent"
        return arm_line(arm.driver, arm.address, self.scene.control_hz, how)

    def health(self) -> tuple[bytes, str, dict[str, str]]:
        """Return level, summary and numbers for `/diagnostics`; `slowed or stopped by` counts control steps."""
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

    def _recover(self) -> RobotState:
        self._arm.recover()
        return self._arm.robot_state()

    def _close(self) -> None:
        """Bring the arm to rest and disconnect."""
        self._arm.close()
