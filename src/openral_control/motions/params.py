"""The parameters of each motion as typed models, which generate the JSON Schemas in the manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from openral_core.schema import Schema

Coordinate = Annotated[float, Field(ge=-10.0, le=10.0, allow_inf_nan=False)]
Point = Annotated[tuple[Coordinate, Coordinate, Coordinate], Field(strict=False)]
Speed = Annotated[float, Field(ge=0.01, le=0.5, allow_inf_nan=False)]
Tolerance = Annotated[float, Field(ge=0.003, le=0.1, allow_inf_nan=False)]
Clearance = Annotated[float, Field(ge=0.0, le=0.5, allow_inf_nan=False)]
Height = Annotated[float, Field(ge=0.01, le=0.5, allow_inf_nan=False)]
Yaw = Annotated[float, Field(ge=-1.5708, le=1.5708, allow_inf_nan=False)]
Fingers = Literal["keep", "open", "closed"]


class MotionParams(Schema):
    """What every motion takes."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class _Moving(MotionParams):
    speed_m_s: Speed = 0.25
    """[m/s] greatest speed at which the hand is led."""
    tolerance_m: Tolerance = 0.01
    """[m] distance from the target at which the hand counts as there."""


class Home(_Moving):
    """Takes the hand to where skills begin, by way of a height that is clear of things."""

    position: Point | None = None
    """[m] x, y, z in the scene's world frame; absent: the scene's `home`."""
    clearance_m: Clearance = 0.05
    """[m] above the higher of start and target that the hand travels at; 0: straight."""
    gripper: Fingers = "keep"
    """What the fingers do; keep: fingers that are not open stay closed."""


class MoveTo(_Moving):
    """Takes the hand to a position."""

    position: Point
    """[m] x, y, z in the scene's world frame."""
    yaw: Yaw | None = None
    """[rad] about the world's z, from its y axis to the line along which the fingers open; absent: it is not turned."""
    clearance_m: Clearance = 0.0
    """[m] above the higher of start and target that the hand travels at; 0: straight."""
    gripper: Fingers = "keep"
    """What the fingers do; keep: fingers that are not open stay closed."""


class Retract(_Moving):
    """Takes the hand straight up."""

    height_m: Height = 0.1
    """[m] how far; less where the workspace ends before."""
    gripper: Fingers = "keep"
    """What the fingers do; keep: fingers that are not open stay closed."""


class SetGripper(MotionParams):
    """Opens or closes the fingers where the hand is."""

    fingers: Literal["open", "closed"]
    """Where they go; fingers that meet something stop there."""


class Nudge(_Moving):
    """Takes the hand a little way along one axis of the world frame."""

    direction: Literal["+x", "-x", "+y", "-y", "+z", "-z"]
    """Axis of the scene's world frame."""
    distance_m: Annotated[float, Field(ge=0.005, le=0.2, allow_inf_nan=False)] = 0.03
    """[m]"""
    tolerance_m: Annotated[float, Field(ge=0.003, le=0.1, allow_inf_nan=False)] = 0.005
    """[m] distance from the target at which the hand counts as there."""
    gripper: Fingers = "keep"
    """What the fingers do; keep: fingers that are not open stay closed."""


class PickAt(_Moving):
    """Takes what is at a point: opens the fingers, goes above it, down, closes them, and lifts."""

    point: Point
    """[m] x, y, z in the scene's world frame: where the hand is to be when the fingers close."""
    yaw: Yaw | None = None
    """[rad] about the world's z, from its y axis to the line along which the fingers open; absent: it is not turned."""
    approach_m: Height = 0.1
    """[m] above the point from which the hand comes down."""
    lift_m: Height = 0.1
    """[m] above the point to which the hand is lifted."""
    stopped_above_m: Annotated[float, Field(ge=0.0, le=0.06, allow_inf_nan=False)] = 0.04
    """[m] above the point at which a hand that comes no lower still closes its fingers."""


class PlaceAt(_Moving):
    """Puts down what is in the hand: goes above a point, down, opens the fingers, and rises."""

    point: Point
    """[m] x, y, z in the scene's world frame: where the hand is to be when the fingers open."""
    yaw: Yaw | None = None
    """[rad] about the world's z, from its y axis to the line along which the fingers open; absent: it is not turned."""
    approach_m: Height = 0.1
    """[m] above the point from which the hand comes down."""
    retract_m: Height = 0.1
    """[m] above the point to which the hand rises."""
    stopped_above_m: Annotated[float, Field(ge=0.0, le=0.05, allow_inf_nan=False)] = 0.04
    """[m] above the point at which a hand that comes no lower still opens its fingers."""


class LookFrom(_Moving):
    """Takes the hand over a point, or beside it, so that a camera on it or behind it has a clear view."""

    point: Point
    """[m] x, y, z in the scene's world frame: what is to be looked at."""
    height_m: Height = 0.2
    """[m] above the point."""
    aside_m: Annotated[tuple[Coordinate, Coordinate], Field(strict=False)] = (0.0, 0.0)
    """[m] x, y from above the point."""
    yaw: Yaw | None = None
    """[rad] about the world's z, from its y axis to the line along which the fingers open; absent: it is not turned."""
    clearance_m: Clearance = 0.05
    """[m] above the higher of start and target that the hand travels at; 0: straight."""
    gripper: Fingers = "keep"
    """What the fingers do; keep: fingers that are not open stay closed."""


PARAMS: Mapping[str, type[MotionParams]] = {
    "home": Home,
    "move_to": MoveTo,
    "retract": Retract,
    "set_gripper": SetGripper,
    "nudge": Nudge,
    "pick_at": PickAt,
    "place_at": PlaceAt,
    "look_from": LookFrom,
}
"""Name of a motion -> its parameters."""


def params_of(name: str, values: Mapping[str, Any]) -> MotionParams:
    """Return the typed parameters of a motion.

    Raises:
        KeyError: there is no such motion.
        pydantic.ValidationError: the values do not match its `params_schema`.
    """
    return PARAMS[name].model_validate(dict(values))


def params_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a motion's parameters.

    It has no titles, and an optional parameter may be absent but not null.

    Raises:
        KeyError: there is no such motion.
    """
    schema: dict[str, Any] = _plain(PARAMS[name].model_json_schema())
    return schema


def _plain(part: Any) -> Any:
    """Return a part of pydantic's schema without titles and null, with `prefixItems` of equal items as `items`."""
    if isinstance(part, list):
        return [_plain(each) for each in part]
    if not isinstance(part, dict):
        return part
    first = part.get("prefixItems", ())
    if first and all(each == first[0] for each in first):
        part = {**{key: value for key, value in part.items() if key != "prefixItems"}, "items": first[0]}
    options = [each for each in part.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == 1:
        return _plain({**options[0], **{key: value for key, value in part.items() if key != "anyOf"}})
    return {
        key: {name: _plain(each) for name, each in value.items()} if key == "properties" else _plain(value)
        for key, value in part.items()
        if key != "title" and not (key == "default" and value is None)
    }
