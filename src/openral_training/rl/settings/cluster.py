"""Where the parts of a run are: RLinf's `component_placement`, as far as one machine needs it.

component_placement: {"env,rollout,actor": 0}        all in the command's own process
component_placement: {env: 0-1, "rollout,actor": 2}  two processes of worlds beside it
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NoReturn

from pydantic import Field, model_validator

from openral_core.schema import Fault, Schema, raise_faults

COMPONENTS = ("env", "rollout", "actor")
TOGETHER: dict[str, str | int] = {"env,rollout,actor": 0}
_RANKS = re.compile(r"(\d+)(?:-(\d+))?")


class Cluster(Schema):
    """Processes by rank, and who runs in which."""

    num_nodes: Literal[1] = 1
    """Machines; more of them need a placement that is not there yet."""
    component_placement: dict[str, str | int] = Field(default_factory=lambda: dict(TOGETHER))
    """From components (env, rollout, actor; several with commas) to ranks: `2`, or `0-1`.

    rollout (inference) and actor (learning) share one rank, the command's own process. env shares it, too, or has
    ranks of its own, each a process with its part of the worlds.
    """

    @model_validator(mode="after")
    def _check(self) -> Cluster:
        ranks = _ranks(self.component_placement)
        if ranks["rollout"] != ranks["actor"] or len(ranks["actor"]) != 1:
            _refuse("rollout and actor must share one rank on one machine", "write `rollout,actor: 2`")
        if ranks["env"] != ranks["actor"] and set(ranks["env"]) & set(ranks["actor"]):
            _refuse(
                "env shares only some of its ranks with the actor", "give it the actor's one rank, or its own"
            )
        return self

    @property
    def env_processes(self) -> int:
        """How many processes run worlds; 0: they are in the command's own."""
        ranks = _ranks(self.component_placement)
        return 0 if ranks["env"] == ranks["actor"] else len(ranks["env"])


def _ranks(placement: Mapping[str, str | int]) -> dict[str, range]:
    """Return the ranks of each component; refuse what is no placement."""
    found: dict[str, range] = {}
    for names, text in placement.items():
        match = _RANKS.fullmatch(str(text))
        if match is None or not (ranks := range(int(match[1]), int(match[2] or match[1]) + 1)):
            _refuse(f"{names}: '{text}' are no ranks", "write 2 or 0-1")
        for name in (part.strip() for part in names.split(",")):
            if name not in COMPONENTS:
                _refuse(f"there is no component '{name}'", f"use {', '.join(COMPONENTS)}")
            if name in found:
                _refuse(f"{name} is placed twice", "keep one")
            found[name] = ranks
    if missing := [name for name in COMPONENTS if name not in found]:
        _refuse(f"{', '.join(missing)} is not placed", "add its rank")
    return found


def _refuse(what: str, mend: str) -> NoReturn:
    raise_faults([Fault("component_placement", what, mend)])
    raise AssertionError("one fault raises")
