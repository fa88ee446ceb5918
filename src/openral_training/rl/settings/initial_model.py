"""The settings of a run's initial policy, a class for each kind; their `model_type` tells them apart."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from openral_core.schema import Count, Fault, Finite, Schema, Word, raise_faults


class MlpConfig(Schema):
    """A policy on the simulator's state, cloned from experts."""

    model_type: Literal["mlp"] = "mlp"
    """Name of this kind of policy."""
    head: Literal["bins", "gaussian"] = "bins"
    """Distribution of actions, see `heads`."""
    bins: Annotated[int, Field(ge=2)] | None = None
    """K of the head `bins`, required beside `head: bins`; 33 where neither is in the file."""
    initial_log_std: Finite | None = None
    """Natural logarithm of the initial standard deviation of the head `gaussian`; absent: -0.5."""
    chunk: Count = 4
    """C, control steps of one decision."""
    hidden: Count = 256
    """Width of both hidden layers of each network."""

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_the_head(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        if "head" not in fields:
            return {"bins": 33, **fields}
        return {"initial_log_std": -0.5, **fields} if fields["head"] == "gaussian" else fields

    @model_validator(mode="after")
    def _fits_the_head(self) -> MlpConfig:
        examples = {"bins": 33, "initial_log_std": -0.5}
        used = "bins" if self.head == "bins" else "initial_log_std"
        [unused] = examples.keys() - {used}
        faults = []
        if getattr(self, used) is None:
            what = f"is missing for the head {self.head}"
            faults.append(Fault(used, what, f"add it, such as {used}: {examples[used]}"))
        if getattr(self, unused) is not None:
            faults.append(Fault(unused, f"is not used by the head {self.head}", "remove it"))
        raise_faults(faults)
        return self


class MiniActorConfig(Schema):
    """A skill of the family `mini` as the initial policy."""

    model_type: Literal["mini"] = "mini"
    """Name of this kind of policy."""
    model_path: Word
    """Reference of the skill."""
    chunk: Count = 8
    """C, actions of each of the skill's chunks that are executed before the next inference."""
    initial_log_std: Finite = -1.6
    """Natural logarithm of the initial standard deviation of actions, which are within -1..1."""
    hidden: Count = 256
    """Width of the critic's hidden layers."""


class TokenConfig(Schema):
    """A vision-language model that generates action tokens."""

    model_type: Literal["tokens"] = "tokens"
    """Name of this kind of policy."""
    model_path: Word
    """Folder of a checkpoint as transformers writes it, tokenizer and image processor included."""
    chunk: Count = 8
    """C, control steps of one decision."""
    bins: Annotated[int, Field(ge=3)] = 256
    """K, action tokens."""
    lora_rank: Count = 32
    """Rank of LoRA in each linear layer of the language model; its scale is 1."""
