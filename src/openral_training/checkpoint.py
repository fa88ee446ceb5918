"""Saves and restores a training run (network, optimiser, step) as safetensors; describes the provenance of weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TypeVar

import torch
from pydantic import BaseModel
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from openral_core.errors import ContractError, PolicyError, WeightsError
from openral_data.lerobot_v3 import Dataset
from openral_rskill.mini import WEIGHTS
from openral_rskill.mini.checkpoint import read_metadata
from openral_rskill.result_provenance import commit
from openral_rskill.safetensors_check import weights_fault
from openral_rskill.store.lockfile import sha256_of
from openral_rskill.weights_writing import replaced_weights
from openral_training.training_recipe import Recipe

ConfigT = TypeVar("ConfigT")


def same_form(found: ConfigT, needed: ConfigT) -> ConfigT:
    """Return the configuration of a checkpoint to begin with.

    Raises:
        PolicyError: it differs from the one that the data needs.
    """
    if found != needed:
        raise PolicyError(
            f"the checkpoint to start from is of another form: {found}; the data asks for {needed}"
        )
    return found


def labels_of(dataset: Dataset) -> list[Path]:
    """Return the files of a dataset whose content decides the result of a training, for `identity`: all but videos."""
    return [*dataset.files(), *sorted((dataset.root / "meta").rglob("*.parquet"))]


_INDIFFERENT = ("save_every", "threads")
"""Hyper-parameters that do not decide the result of a run, so that a resumed run may have others."""


def identity(*parts: object) -> str:
    """Return a digest of what decides the result of a run, such as configuration, model, recipe and dataset.

    Args:
        parts: values with a `repr`; of dataclasses the fields in `_INDIFFERENT` are left out, and of paths the content
            of the file counts.
    """
    return hashlib.sha256(repr([_decisive(part) for part in parts]).encode()).hexdigest()


def _decisive(part: object) -> object:
    if isinstance(part, Path):
        return sha256_of(part)
    if is_dataclass(part) and not isinstance(part, type):
        return {
            field.name: getattr(part, field.name) for field in fields(part) if field.name not in _INDIFFERENT
        }
    return part


def origin(dataset: Dataset, recipe: BaseModel, seed: int) -> dict[str, str]:
    """Return the provenance of weights, for the header of their file.

    Args:
        dataset: whose files are hashed by name and content.
        recipe: is hashed; of a `Recipe` the tasks and training states are included.
        seed: of the training.
    """
    root = dataset.root
    files = (root / "meta" / "info.json", *dataset.files(), *sorted((root / "videos").rglob("*.mp4")))
    found = {
        "recipe_sha256": hashlib.sha256(recipe.model_dump_json().encode()).hexdigest(),
        "dataset_sha256": _digest(root, files),
        "seed": str(seed),
        "commit": commit() or "unknown",
    }
    if isinstance(recipe, Recipe):
        seen = recipe.train_init_ids
        found["tasks"] = ", ".join(recipe.task_ids)
        found["train_init_ids"] = f"{seen.first}-{seen.first + seen.count - 1}"
    return found


def origin_of_start(warm_start: Path) -> dict[str, str]:
    """Return the provenance of the checkpoint that a training began with, for the header of the result."""
    weights = warm_start / WEIGHTS
    return {
        "warm_start_sha256": sha256_of(weights),
        "warm_start_made_of": json.dumps(read_metadata(weights), sort_keys=True),
    }


def refuse_trained_states(
    weights: Path, init_ids: Sequence[int], task_ids: Collection[str] | None = None
) -> None:
    """Check that weights, and those that their training began with, were not trained on any of these initial states.

    Args:
        weights: file with their provenance in its header; one without passes.
        init_ids: initial states of an evaluation.
        task_ids: its tasks; trainings of other tasks do not count. None: those of all tasks do.

    Raises:
        ContractError: they were, or their header cannot be read.
    """
    try:
        seen_states = list(_trained_states(weights, task_ids))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        why = " ".join(str(error).split())[:200]
        raise ContractError(
            f"{weights}: its header does not tell what it was trained on ({why}); fetch it again, or train it anew"
        ) from error
    for first, last in seen_states:
        if shared := [init_id for init_id in init_ids if first <= init_id <= last]:
            raise ContractError(
                f"{weights}: it was trained on initial states {first} to {last}, and {len(shared)} of those that "
                f"it is to be judged on are among them ({shared[0]} …); judge it on others"
            )


def _trained_states(weights: Path, task_ids: Collection[str] | None) -> Iterator[tuple[int, int]]:
    """Yield the first and the last initial state of each training of some tasks, or of any, that led to weights."""
    made_of = read_metadata(weights)
    while made_of:
        tasks, seen = made_of.get("tasks", "").split(", "), made_of.get("train_init_ids")
        if seen is not None and (task_ids is None or set(tasks) & set(task_ids)):
            first, last = map(int, seen.split("-"))
            yield first, last
        made_of = json.loads(made_of.get("warm_start_made_of", "{}"))


def _digest(root: Path, files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in files:
        found.update(str(path.relative_to(root)).encode())
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def save_run(path: Path, network: nn.Module, optimiser: torch.optim.Optimizer, step: int, run: str) -> None:
    """Write the state of a run after `step` steps, with its identity; a crash while writing leaves the former file.

    Raises:
        OSError: the disk is full, or cannot be written.
    """
    tensors: dict[str, Tensor] = {f"network.{k}": v for k, v in network.state_dict().items()}
    for index, slots in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{slot}": value for slot, value in slots.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_weights(path) as partial:
        save_file(
            {k: v.detach().clone().contiguous() for k, v in tensors.items()},
            partial,
            {"step": str(step), "run": run},
        )


def restore_run(path: Path, network: nn.Module, optimiser: torch.optim.Optimizer, run: str) -> int:
    """Load what `save_run` wrote into network and optimiser; return the step, 0 without a file.

    Raises:
        ContractError: the file is of a run with another configuration, model, recipe or dataset.
        WeightsError: the file is damaged, or holds something else.
    """
    if not path.is_file():
        return 0
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
        if metadata.get("run", run) != run:
            raise ContractError(
                f"{path} belongs to another run; choose another --out, or delete it to begin anew"
            )
        step, tensors = int(metadata["step"]), load_file(path)
        network.load_state_dict(
            {k.removeprefix("network."): v for k, v in tensors.items() if k.startswith("network.")}
        )
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            kind, *rest = name.split(".", 2)
            if kind == "optimiser":
                state.setdefault(int(rest[0]), {})[rest[1]] = value
        optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    except (OSError, SafetensorError, KeyError, ValueError, IndexError, RuntimeError) as error:
        other = f"{path.name} holds no state of this training ({' '.join(str(error).split())[:200]})"
        why = weights_fault(path) or other
        raise WeightsError(f"{path.parent}: {why}; copy it back whole, or delete it to begin anew") from error
    return step
