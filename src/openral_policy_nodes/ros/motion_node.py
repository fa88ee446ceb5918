"""The lifecycle node that hosts the motions of a scene, each as an action `skills/<slug>/execute`.

It runs one goal at a time over all of them. Motions need no camera. The bridge checks their chunks like those of
policies.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from openral_control.motions import MOTIONS, MotionArm, motion_name
from openral_control.motions.straight_line import horizon_of
from openral_core.errors import ContractError
from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.robot import load_robot
from openral_core.ros.run_node import run_node
from openral_core.scene import load_scene
from openral_policy_nodes.goal_request import GoalRequest
from openral_policy_nodes.motion_source import REPLAN_S, MotionSource, path_check
from openral_policy_nodes.ros.execute_action import SkillOffer
from openral_policy_nodes.ros.hosting_node import Hosting, HostingNode, require_gripper
from openral_policy_nodes.ros.skill_messages import HostedSkill
from openral_rskill.compatibility import match, require
from openral_rskill.registry import resolve


class MotionNode(HostingNode):
    """Hosts the skills that the scene lists under `motions`.

    Its parameters are those of `HostingNode`, and `lockstep` (the bridge waits for the motion).
    """

    def __init__(self) -> None:
        super().__init__("motions", namespace=DEFAULT_NAMESPACE, most_skills=len(MOTIONS))
        self.declare_parameter("lockstep", False)

    def _admit(self) -> Hosting:
        """Check and return the motions of the scene; raise an OpenralError if they cannot be hosted."""
        scene = load_scene(self._text("scene"))
        robot = load_robot(scene.robot_id)
        if not scene.motions:
            raise ContractError(f"scene {scene.scene.id} lists no motions; add `motions:` to it")
        require_gripper(robot)
        horizon = horizon_of(MotionArm.of(scene, robot))
        skills = [
            HostedSkill(resolve(reference), scene, self.get_namespace(), horizon)
            for reference in scene.motions
        ]
        for hosted in skills:
            motion_name(hosted.package.manifest)
            require(match(hosted.package.manifest, robot, scene))
        replay_steps = max(1, round(REPLAN_S * scene.control_hz))
        # In lockstep the bridge waits only for answers to states that have images.
        cameras = scene.cameras if self.get_parameter("lockstep").value else ()
        return Hosting(skills, scene, robot, cameras, replay_steps, with_target=True)

    def _load(self, hosting: Hosting) -> tuple[MotionSource, Sequence[SkillOffer]]:
        """Return the motions, with the path check of the scene."""
        check = path_check(hosting.scene)
        source = MotionSource(MotionArm.of(hosting.scene, hosting.robot), check)
        offers = [
            SkillOffer(
                hosted.package.manifest,
                hosted.action,
                partial(self._plan, source, motion_name(hosted.package.manifest)),
            )
            for hosted in hosting.skills
        ]
        names = ", ".join(motion_name(offer.manifest) for offer in offers)
        how = (
            "the scene's model"
            if check is not None
            else "the workspace alone, for the scene has no model here"
        )
        self.get_logger().info(f"motions: {names}; each is checked before it starts against {how}")
        return source, offers

    def _plan(self, source: MotionSource, name: str, goal_id: str, request: GoalRequest) -> None:
        latest = self._intake.latest if self._intake is not None else None
        source.plan(goal_id, name, request.params, latest.state if latest is not None else None)


def main(args: list[str] | None = None) -> int:
    """Run the node until it is asked to stop; see `run_node`."""
    return run_node(MotionNode, args)


if __name__ == "__main__":
    sys.exit(main())
