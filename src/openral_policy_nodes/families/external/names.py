"""Names of the inputs and outputs of a served policy, from the `policy_extras` of its contract."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field, ValidationError

from openral_core.errors import PolicyError
from openral_core.manifest import ImagePreprocessing, RSkillManifest
from openral_core.schema import Count, Schema, Word


class WireNames(Schema):
    """Names on the wire, and the lengths of the parts of the state and action vectors."""

    url: str = ""
    """URL of the server, such as ws://127.0.0.1:8000; `--policy-url` replaces it."""
    images: dict[Word, Word] = Field(min_length=1)
    """Feature key of a camera -> its name on the wire."""
    state: dict[Word, Count] = Field(default_factory=dict)
    """Name on the wire -> number of values, in the order of the state vector; empty: the policy takes no state."""
    instruction: Word = "prompt"
    """Name of the instruction on the wire."""
    actions: dict[Word, Count] = Field(min_length=1)
    """Name on the wire -> number of values, in the order of the action vector."""
    open_unit: Word | None = None
    """Gripper action of one value: 1 open and 0 closed on the wire, converted to -1 open and 1 closed."""
    sessions: bool = False
    """Whether a ZeroMQ server keeps state of episodes by `session_ids`, which `reset` deletes."""


def names_from(manifest: RSkillManifest) -> WireNames:
    """Return a contract's names, checked against its cameras, state and action.

    Raises:
        PolicyError: they are malformed, or do not fit the contract's cameras, state and action.
    """
    try:
        names = WireNames.model_validate(dict(manifest.policy_extras))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise PolicyError(
            f"{manifest.name}: policy_extras.{key}: {first['msg']}; fix the contract"
        ) from error
    faults = _faults(manifest, names)
    if faults:
        raise PolicyError(f"{manifest.name}: policy_extras: {'; '.join(faults)}")
    return names


def _faults(manifest: RSkillManifest, names: WireNames) -> list[str]:
    """Return a sentence for each contradiction between the names and the contract."""
    preprocessing = manifest.image_preprocessing or ImagePreprocessing()
    cameras = {
        preprocessing.input_name(sensor.vla_feature_key)
        for sensor in manifest.sensors_required
        if sensor.modality == "rgb" and sensor.vla_feature_key
    }
    faults = []
    if cameras != set(names.images):
        faults.append(f"images are {_list(names.images)}, sensors_required {_list(cameras)}; name the same")
    state = manifest.state_contract.dim if manifest.state_contract else None
    if names.state and state not in (None, sum(names.state.values())):
        faults.append(
            f"state has {sum(names.state.values())} numbers, state_contract.dim is {state}; fix one"
        )
    action = manifest.action_contract.dim if manifest.action_contract else None
    if sum(names.actions.values()) != action:
        total = sum(names.actions.values())
        faults.append(f"actions have {total} numbers, action_contract.dim is {action}; fix one")
    if names.open_unit is not None and names.actions.get(names.open_unit) != 1:
        faults.append(f"open_unit {names.open_unit} is no action of one number; fix it")
    return faults


def _list(words: Iterable[str]) -> str:
    return ", ".join(sorted(words)) or "none"
