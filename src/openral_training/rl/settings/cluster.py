"""Placement of a run's components: RLinf's `component_placement`.

component_placement: {"env,rollout,actor": 0}              all in the command's own process
component_placement: {env: 0-1, "rollout,actor": 2}        two processes of environments beside it
component_placement: {env: 0-3, rollout: 4-5, actor: 6-7}  each component in processes of its own (disaggregated)
component_placement: {"env,rollout": 0-3, actor: 0-3}      four rollout workers, four learners in turn (collocated)
component_placement: {env: 0-3, rollout: 4-5, actor: 0-5}  learners also on the ranks that are idle meanwhile (hybrid)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, NoReturn

from pydantic import Field, model_validator

from openral_core.schema import Count, Fault, Schema, Word, raise_faults

COMPONENTS = ("env", "rollout", "actor")
TOGETHER: dict[str, str | int] = {"env,rollout,actor": 0}
_RANKS = re.compile(r"(\d+)(?:-(\d+))?")


class Cluster(Schema):
    """Ranks, and which components run at which."""

    placement: Literal["local", "ray"] = "local"
    """local: processes of this machine. ray: actors on a Ray cluster, driven by the command."""
    address: Word | None = None
    """Address of the Ray cluster: host:port of its head, or `auto` for the cluster of this machine; absent: auto."""
    num_nodes: Count = 1
    """Machines of the Ray cluster over which ranks are spread, an equal number of consecutive ranks on each."""
    gpus_per_rank: Annotated[float, Field(ge=0, le=8)] = 0.0
    """GPUs that Ray reserves for a rank's policy, in rollout and in actor; 0: networks are on the CPU."""
    component_placement: dict[str, str | int] = Field(default_factory=lambda: dict(TOGETHER))
    """From components (env, rollout, actor; several with commas) to ranks: `2`, or `0-1`.

    A rank is a core, with `gpus_per_rank` GPUs, for one process of each component that is placed there. If env has the
    ranks of rollout, environments are in the rollout workers' processes; otherwise its ranks are apart from them, an
    equal number for each rollout worker. With `placement: local` a single learner is in the command's own process, and
    so is a single rollout worker at the same rank.
    """

    @model_validator(mode="after")
    def _check(self) -> Cluster:
        ranks = _ranks(self.component_placement)
        env, rollout = ranks["env"], ranks["rollout"]
        if env != rollout and set(env) & set(rollout):
            _refuse(
                "env shares only some of its ranks with rollout", "give it the ranks of rollout, or its own"
            )
        if env != rollout and len(env) % len(rollout):
            _refuse(
                f"{len(env)} ranks of env cannot be shared out among {len(rollout)} of rollout",
                "use a multiple",
            )
        used = set().union(*ranks.values())
        if idle := set(range(self.size)) - used:
            _refuse(f"no component is at rank {min(idle)}", f"number the ranks from 0 to {len(used) - 1}")
        raise_faults(self._fit_of_placement())
        return self

    def _fit_of_placement(self) -> list[Fault]:
        if self.placement == "ray":
            if self.size % self.num_nodes:
                what = f"{self.size} ranks cannot be shared out among {self.num_nodes} machines"
                return [Fault("num_nodes", what, "use a divisor")]
            return []
        unused = {
            "address": self.address,
            "num_nodes": self.num_nodes > 1,
            "gpus_per_rank": self.gpus_per_rank,
        }
        fix = "remove it, or set placement: ray"
        return [Fault(key, "is not used with placement local", fix) for key, value in unused.items() if value]

    def ranks(self, component: str) -> list[int]:
        """Return the ranks of env, rollout or actor."""
        return list(_ranks(self.component_placement)[component])

    @property
    def size(self) -> int:
        """Number of ranks."""
        return 1 + max(max(ranks) for ranks in _ranks(self.component_placement).values())

    @property
    def env_ranks(self) -> list[int]:
        """Ranks of environments in processes of their own; none: they are in the rollout workers' processes."""
        return [] if self.ranks("env") == self.ranks("rollout") else self.ranks("env")

    @property
    def learners_apart(self) -> bool:
        """Whether learners have processes of their own."""
        return self.placement == "ray" or len(self.ranks("actor")) > 1

    @property
    def rollout_apart(self) -> bool:
        """Whether rollout workers have processes of their own."""
        return self.learners_apart or self.ranks("rollout") != self.ranks("actor")


def _ranks(placement: Mapping[str, str | int]) -> dict[str, range]:
    """Return the ranks of each component. Raises as `raise_faults` where the placement is not valid."""
    found: dict[str, range] = {}
    for names, text in placement.items():
        match = _RANKS.fullmatch(str(text))
        if match is None or not (ranks := range(int(match[1]), int(match[2] or match[1]) + 1)):
            _refuse(f"{names}: '{text}' is not a range of ranks", "write 2 or 0-1")
        for name in (part.strip() for part in names.split(",")):
            if name not in COMPONENTS:
                _refuse(f"there is no component '{name}'", f"use {', '.join(COMPONENTS)}")
            if name in found:
                _refuse(f"{name} is placed twice", "keep one")
            found[name] = ranks
    if missing := [name for name in COMPONENTS if name not in found]:
        _refuse(f"{', '.join(missing)} is not placed", "add its rank")
    return found


def _refuse(what: str, fix: str) -> NoReturn:
    raise_faults([Fault("component_placement", what, fix)])
    raise AssertionError("one fault raises")
