"""The settings of a DAgger run; a YAML file in config/dagger, with the defaults below."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from openral_core.files.named_files import find_file
from openral_core.files.yaml_document import read_document
from openral_core.schema import Count, Schema, Word, validate
from openral_training.mapping.dataset_recipe import GIVEN, SkillRecipe

PATTERNS = ("config/dagger/{}.yaml",)


class Cloning(Schema):
    """How each round's policy is cloned; it begins with the one before."""

    steps: Count = 400
    """Optimiser steps of the first policy."""
    round_steps: Count = 400
    """Optimiser steps of each round."""
    batch_size: Count = 64
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 6e-4
    """Peak of the cosine schedule."""


class DaggerConfig(Schema):
    """What is learnt, where, and by how much help."""

    scene: Word
    """Deployment in which the policy is tried and corrected; its `reward_skill` watches."""
    suite: Word
    """Judges each round on the states that it holds out; its other states are those that are tried."""
    task: Word
    """Id of the suite's task, such as metaworld/drawer-open-v3."""
    demonstrations: Count
    """Undisturbed demonstrations that the first policy is cloned from."""
    rounds: Count = 3
    """At most."""
    enough: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the unseen states; a round that solves as many is the last."""
    interventions: Count = 20
    """Of each round."""
    most_attempts: Count = 60
    """Of each round; a policy that seldom stands still gets fewer interventions."""
    cloning: Cloning = Cloning()
    skill: SkillRecipe
    """How the recording becomes a skill, with the skill's manifest."""


def load_config(ref: str | Path) -> DaggerConfig:
    """Load a run's file by path, or by the name of one that openral ships.

    Raises:
        NotFoundError: neither exists.
        ManifestError: one line a fault, `file:line: key: what is wrong; fix`.
    """
    document = read_document(find_file(ref, "DAgger config", PATTERNS))
    skill = document.data.get("skill") if isinstance(document.data, dict) else None
    if isinstance(skill, dict) and isinstance(skill.get("manifest"), dict):
        skill["manifest"] = {**GIVEN, **skill["manifest"]}
    return validate(DaggerConfig, document)
