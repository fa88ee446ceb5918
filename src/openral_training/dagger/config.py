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
    """How each round's policy is trained; it begins with the weights of the last one."""

    steps: Count = 400
    """Optimiser steps of the first policy."""
    round_steps: Count = 400
    """Optimiser steps of each round."""
    batch_size: Count = 64
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 6e-4
    """Peak of the cosine schedule."""


class DaggerConfig(Schema):
    """The settings of a run."""

    scene: Word
    """Deployment in which the policy is corrected; its `reward_skill` notices that the policy stands still."""
    suite: Word
    """Benchmark suite: its held-out states evaluate each round, its training states are those of the attempts."""
    task: Word
    """Id of the suite's task, such as metaworld/drawer-open-v3."""
    demonstrations: Count
    """Demonstrations that the first policy is trained on."""
    rounds: Count = 3
    """Most rounds of corrections."""
    enough: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the held-out states; a round that solves as many is the last one."""
    interventions: Count = 20
    """Interventions of each round."""
    most_attempts: Count = 60
    """Most attempts of each round, where the policy needs fewer interventions."""
    cloning: Cloning = Cloning()
    skill: SkillRecipe
    """How the recording is mapped to a skill, with the skill's manifest."""


def load_config(ref: str | Path) -> DaggerConfig:
    """Load a run's file by path, or by the name of one that openral ships.

    Raises:
        NotFoundError: neither exists.
        ManifestError: the file is invalid; one line per fault, `file:line: key: what is wrong; fix`.
    """
    document = read_document(find_file(ref, "DAgger config", PATTERNS))
    skill = document.data.get("skill") if isinstance(document.data, dict) else None
    if isinstance(skill, dict) and isinstance(skill.get("manifest"), dict):
        skill["manifest"] = {**GIVEN, **skill["manifest"]}
    return validate(DaggerConfig, document)
