"""The lifecycle node that hosts one skill and offers it as the action `skills/<slug>/execute`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from openral_core.adapters.observation_adapter import cameras_for
from openral_core.errors import ContractError
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, policy_namespace
from openral_core.robot import load_robot
from openral_core.ros.run_node import run_node
from openral_core.scene import load_scene
from openral_policy_nodes.blank_observation import blank_sensors
from openral_policy_nodes.families.factory import load_policy
from openral_policy_nodes.inference import Inference
from openral_policy_nodes.ros.execute_action import SkillOffer
from openral_policy_nodes.ros.hosting_node import Hosting, HostingNode, require_gripper
from openral_policy_nodes.ros.skill_messages import HostedSkill
from openral_rskill.compatibility import match, require
from openral_rskill.registry import resolve

WARM_UPS = 2
"""Inferences at start: the first one includes allocations, the second one shows the latency to expect."""


class PolicyNode(HostingNode):
    """Hosts the policy of one skill.

    Its parameters are those of `HostingNode`, and `skill` (reference), `device`, `lockstep` (the bridge waits for the
    policy) and `allow_unevaluated`.
    """

    def __init__(self) -> None:
        super().__init__("policy", namespace=policy_namespace(DEFAULT_NAMESPACE), most_skills=1)
        self.declare_parameter("skill", "")
        self.declare_parameter("device", "cpu")
        self.declare_parameter("lockstep", False)
        self.declare_parameter("allow_unevaluated", False)
        self._inference: Inference | None = None

    @property
    def _what(self) -> str:
        return f"skill {self._text('skill')!r}"

    def _admit(self) -> Hosting:
        """Check and return the skill; raise an OpenralError if it cannot be hosted."""
        package, scene = resolve(self._text("skill")), load_scene(self._text("scene"))
        manifest, robot = package.manifest, load_robot(scene.robot_id)
        if manifest.kind != "vla":
            raise ContractError(f"{manifest.name} is of kind {manifest.kind}; a policy node hosts kind vla")
        # The licence is among the rows; all of them are checked before any weights are read.
        lockstep, allow = (bool(self.get_parameter(n).value) for n in ("lockstep", "allow_unevaluated"))
        require(
            match(manifest, robot, scene, folder=package.folder, lockstep=lockstep, allow_unevaluated=allow)
        )
        require_gripper(robot)
        cameras = cameras_for(manifest, scene)
        return Hosting(
            [HostedSkill(package, scene, self.get_namespace())], scene, robot, cameras, manifest.replay_steps
        )

    def _load(self, hosting: Hosting) -> tuple[Inference, Sequence[SkillOffer]]:
        """Load the weights, or start the server that holds them, and warm the policy up."""
        (hosted,), scene = hosting.skills, hosting.scene
        manifest = hosted.package.manifest
        inference = self._inference = Inference(
            manifest, scene, load_policy(hosted.package, self._text("device"))
        )
        words = manifest.examples[0].phrases[0] if manifest.examples else manifest.description
        blank = blank_sensors(manifest, scene)
        latency_s = [inference.warm_up(blank, words) for _ in range(WARM_UPS)][-1]
        self.get_logger().info(
            f"{manifest.name} {manifest.version} is loaded, {1e3 * latency_s:.1f} ms an inference"
        )
        return inference, [SkillOffer(manifest, hosted.action)]

    def _unload(self) -> None:
        if self._inference is not None:
            self._inference.close()
        self._inference = None


def main(args: list[str] | None = None) -> int:
    """Run the node until it is asked to stop; see `run_node`."""
    return run_node(PolicyNode, args)


if __name__ == "__main__":
    sys.exit(main())
