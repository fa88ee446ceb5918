"""The closed list of stop conditions, each a typed model, and the JSON that a goal's `stop_when` holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from openral_core.errors import ContractError
from openral_core.schema import Schema, Vector3

MAX_TEXT = 4096
"""Characters of a goal's `stop_when`."""
MAX_CONDITIONS = 8
"""Conditions of one goal."""
_EXAMPLE = '[{"name": "lifted", "height_m": 0.05}]'
_SHOWN = 40
"""Characters of somebody else's text that an error repeats."""

Opening = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Length = Annotated[float, Field(gt=0, le=2, allow_inf_nan=False)]
Duration = Annotated[float, Field(ge=0.05, le=60, allow_inf_nan=False)]


class _Condition(Schema):
    model_config = ConfigDict(use_attribute_docstrings=True)


class Lifted(_Condition):
    """The hand rose with the fingers on something: they were told to close, stand still, and are neither at their
    closed end nor open. The height counts from the lowest point since they were told to close."""

    name: Literal["lifted"]
    height_m: Length = 0.05
    """[m] along z of the world frame."""
    closed_m: Opening | None = None
    """[m] opening of fingers that closed on nothing; absent: the robot's own `min_opening_m`."""


class GripperClosed(_Condition):
    """The fingers came to rest after they were told to close, on something or on nothing."""

    name: Literal["gripper_closed"]
    opening_m: Opening | None = None
    """[m] they must be closer together than this, whatever they were told; absent: at rest at any opening."""
    duration_s: Duration = 0.2
    """[s] for which it must hold without a break."""


class Reached(_Condition):
    """The hand is at a place; it may be there at the first observation."""

    name: Literal["reached"]
    position: Vector3
    """[m] of the end effector in the world frame of the scene."""
    tolerance_m: Length = 0.02
    """[m] distance that still counts as there."""


class Still(_Condition):
    """The hand hardly moves any more."""

    name: Literal["still"]
    distance_m: Length = 0.005
    """[m] farther than this it was not from where it is, within the duration."""
    duration_s: Duration = 1.0
    """[s] window in which it is looked at."""
    after_s: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] = 2.0
    """[s] from the first observation of the goal until which it does not count: a policy takes a moment to begin."""


class JudgedDone(_Condition):
    """The reward monitor's readings of this goal say that the task is done."""

    name: Literal["done"]
    readings: Annotated[int, Field(ge=1, le=100)] | None = None
    """Readings in a row that must say so; absent: the reward skill's own `dwell`."""


StopCondition = Annotated[
    Lifted | GripperClosed | Reached | Still | JudgedDone,
    Field(discriminator="name"),
]
"""One condition; `name` says which."""

MODELS: dict[str, type[Lifted | GripperClosed | Reached | Still | JudgedDone]] = {
    "lifted": Lifted,
    "gripper_closed": GripperClosed,
    "reached": Reached,
    "still": Still,
    "done": JudgedDone,
}
"""Every condition that there is, by its name."""


def parse_stop_when(text: str) -> tuple[StopCondition, ...]:
    """Return the conditions of a goal's `stop_when`.

    Args:
        text: JSON array of objects, each with a `name` and its numbers; empty: no condition.

    Raises:
        ContractError: one line that says which condition is wrong and which there are.
    """
    if not text.strip():
        return ()
    if len(text) > MAX_TEXT:
        raise ContractError(f"stop_when has {len(text)} characters; send at most {MAX_TEXT}")
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"stop_when is no JSON ({_shown(str(error), 80)}); write {_EXAMPLE}") from error
    if not isinstance(items, list):
        raise ContractError(f"stop_when is no JSON array; write {_EXAMPLE}")
    if len(items) > MAX_CONDITIONS:
        raise ContractError(f"stop_when has {len(items)} conditions; send at most {MAX_CONDITIONS}")
    return tuple(_condition(index, item) for index, item in enumerate(items))


def stop_when_text(conditions: Sequence[StopCondition]) -> str:
    """Return the `stop_when` of conditions, without what is absent; empty for none."""
    return (
        json.dumps([condition.model_dump(exclude_none=True) for condition in conditions])
        if conditions
        else ""
    )


def stop_when_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a goal's `stop_when`, for tools."""
    many = Annotated[list[StopCondition], Field(max_length=MAX_CONDITIONS)]
    return TypeAdapter(many).json_schema()


def _condition(index: int, item: Any) -> StopCondition:
    where, known = f"stop_when[{index}]", f"the conditions are {', '.join(MODELS)}"
    name = item.get("name") if isinstance(item, dict) else None
    model = MODELS.get(name) if isinstance(name, str) else None
    if model is None:
        what = "has no name" if name is None else f"{_shown(str(name))} is no condition"
        raise ContractError(f"{where} {what}; {known}")
    try:
        return model.model_validate(item)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = _shown(".".join(map(str, first["loc"])))
        wrong = "unknown" if first["type"] == "extra_forbidden" else first["msg"]
        takes = ", ".join(key for key in model.model_fields if key != "name")
        text = f"{where} {name}: {field}: {wrong[:1].lower()}{wrong[1:]}; it takes {takes}; {known}"
        raise ContractError(text) from error


def _shown(text: str, longest: int = _SHOWN) -> str:
    return ascii(text[:longest])[1:-1]
