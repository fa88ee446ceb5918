"""Names of a scene's files, looked up in the compiled model; what is missing is gathered, not thrown one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco

from openral_core.errors import nearest
from openral_core.schema import Fault

WORDS = {
    mujoco.mjtObj.mjOBJ_ACTUATOR: "actuator",
    mujoco.mjtObj.mjOBJ_BODY: "body",
    mujoco.mjtObj.mjOBJ_CAMERA: "camera",
    mujoco.mjtObj.mjOBJ_JOINT: "joint",
    mujoco.mjtObj.mjOBJ_KEY: "keyframe",
    mujoco.mjtObj.mjOBJ_SITE: "site",
}
_COUNTS = {
    mujoco.mjtObj.mjOBJ_ACTUATOR: "nu",
    mujoco.mjtObj.mjOBJ_BODY: "nbody",
    mujoco.mjtObj.mjOBJ_CAMERA: "ncam",
    mujoco.mjtObj.mjOBJ_JOINT: "njnt",
    mujoco.mjtObj.mjOBJ_KEY: "nkey",
    mujoco.mjtObj.mjOBJ_SITE: "nsite",
}
SHOWN = 12
"""So many names are listed in a message."""


class Naming:
    """Finds things by the names of robot.yaml or of the model. What is not found becomes a fault and the id 0."""

    def __init__(self, model: Any, names: Mapping[str, str]) -> None:
        """Read the names.

        Args:
            model: mujoco.MjModel.
            names: name in robot.yaml -> name in the model, where they differ.
        """
        self._model = model
        self._names = names
        self.faults: list[Fault] = []

    def in_model(self, name: str) -> str:
        """Return what a thing of robot.yaml is called in the model."""
        return self._names.get(name, name)

    def known(self, kind: mujoco.mjtObj) -> list[str]:
        """Return the names of all things of a kind; those without a name are left out."""
        names = (mujoco.mj_id2name(self._model, kind, i) for i in range(getattr(self._model, _COUNTS[kind])))
        return [name for name in names if name]

    def has(self, kind: mujoco.mjtObj, name: str) -> bool:
        """Whether the model has such a thing."""
        return int(mujoco.mj_name2id(self._model, kind, self.in_model(name))) >= 0

    def find(self, kind: mujoco.mjtObj, name: str, key: str) -> int:
        """Return the id of a thing that the option `key` names."""
        index = int(mujoco.mj_name2id(self._model, kind, self.in_model(name)))
        if index < 0:
            self.miss(key, WORDS[kind], name, self.known(kind))
        return max(index, 0)

    def body_or_site(self, name: str, key: str) -> tuple[mujoco.mjtObj, int]:
        """Return the kind and the id of a body, or else a site, that the option `key` names."""
        for kind in (mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_SITE):
            if self.has(kind, name):
                return kind, self.find(kind, name, key)
        known = [*self.known(mujoco.mjtObj.mjOBJ_BODY)[1:], *self.known(mujoco.mjtObj.mjOBJ_SITE)]
        self.miss(key, "body or site", name, known)
        return mujoco.mjtObj.mjOBJ_BODY, 0

    def miss(self, key: str, word: str, name: str, known: Sequence[str]) -> None:
        """Note that the model has no such thing."""
        real = self.in_model(name)
        alias = f" (names: {name})" if real != name else ""
        close = nearest(real, known)
        shown = ", ".join(known[:SHOWN]) + (", …" if len(known) > SHOWN else "")
        fix = f"did you mean '{close}'?" if close else f"it has {shown}" if known else f"add a {word}"
        self.faults.append(Fault(key, f"the model has no {word} '{real}'{alias}", fix))

    def address(self, joint: str) -> int:
        """Return the address in qpos of a joint of robot.yaml."""
        index = self.find(mujoco.mjtObj.mjOBJ_JOINT, joint, "model")
        return int(self._model.jnt_qposadr[index])
