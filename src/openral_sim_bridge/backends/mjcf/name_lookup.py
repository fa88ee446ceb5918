"""Lookup of names of a scene's files in the compiled model; unknown names are collected as faults."""

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
"""Most names that are listed in a message."""


class Naming:
    """Finds elements of a model by their names in robot.yaml or the model; a missing one adds a fault and has id 0."""

    def __init__(self, model: Any, names: Mapping[str, str]) -> None:
        """Take the model and the aliases.

        Args:
            model: mujoco.MjModel.
            names: name in robot.yaml -> name in the model, where they differ.
        """
        self._model = model
        self._names = names
        self.faults: list[Fault] = []

    def in_model(self, name: str) -> str:
        """Return the name in the model of an element that robot.yaml names."""
        return self._names.get(name, name)

    def known(self, kind: mujoco.mjtObj) -> list[str]:
        """Return the names of all named elements of a kind."""
        names = (mujoco.mj_id2name(self._model, kind, i) for i in range(getattr(self._model, _COUNTS[kind])))
        return [name for name in names if name]

    def has(self, kind: mujoco.mjtObj, name: str) -> bool:
        """Return whether the model has an element of this kind and name."""
        return int(mujoco.mj_name2id(self._model, kind, self.in_model(name))) >= 0

    def find(self, kind: mujoco.mjtObj, name: str, key: str) -> int:
        """Return the id of an element that the option `key` names; if there is none, add a fault and return 0."""
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
        """Add the fault that the model has no element of this name.

        Args:
            key: of the option with the name.
            word: for the kind of element.
            name: in the option.
            known: names of the model's elements of this kind.
        """
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
