"""Schemas of `backend_options` by family of simulators."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from openral_core.errors import nearest
from openral_core.schema import Count, Many, Schema, Word
from openral_core.simulator_options.names import LAST_INIT_ID, METAWORLD_TASKS, ROBOSUITE_TASKS, Look


def _not_empty(tasks: tuple[str, ...]) -> tuple[str, ...]:
    if not tasks:
        raise ValueError("names no task; write one or more, such as [drawer-open-v3]")
    return tasks


def _of_metaworld(task: str) -> str:
    return _one_of(task, METAWORLD_TASKS, "MetaWorld has no task '{}'")


def _of_robosuite(task: str) -> str:
    return _one_of(task, ROBOSUITE_TASKS, "robosuite has no task '{}' here")


def _of_libero(task: str) -> str:
    suite, slash, name = task.partition("/")
    if not (suite and slash and name):
        raise ValueError(
            f"'{task}' names no suite; write suite/task, such as libero_goal/put_the_bowl_on_the_plate"
        )
    return task


def _one_of(task: str, known: tuple[str, ...], what: str) -> str:
    if task in known:
        return task
    like = nearest(task, known)
    fix = f"did you mean '{like}'?" if like else f"use one of {', '.join(known)}"
    raise ValueError(f"{what.format(task)}; {fix}")


TaskList = Annotated[Many[Word], AfterValidator(_not_empty)]
NumberedState = Annotated[int, Field(ge=0, le=LAST_INIT_ID)]
AnyState = Annotated[int, Field(ge=0)]


class MetaWorldOptions(Schema):
    """`backend_options` of a scene of family `metaworld`."""

    family: Literal["metaworld"]
    """This simulator."""
    tasks: Annotated[Many[Annotated[Word, AfterValidator(_of_metaworld)]], AfterValidator(_not_empty)]
    """Tasks that share one of MetaWorld's scenes; the first is the one that the world starts in."""
    init_id: NumberedState = 0
    """Initial state of a deployment."""
    render_profile: Look = "fast"
    """How pictures are drawn."""
    distractors: Annotated[int, Field(ge=0)] = 0
    """Things that lie about and are of no task."""
    object_outside: bool = False
    """Objects begin 3 to 10 cm beside the range in which MetaWorld puts them."""


class RobosuiteOptions(Schema):
    """`backend_options` of a scene of family `robosuite`."""

    family: Literal["robosuite"]
    """This simulator."""
    tasks: Annotated[Many[Annotated[Word, AfterValidator(_of_robosuite)]], AfterValidator(_not_empty)]
    """Names of robosuite's environments."""
    init_id: NumberedState = 0
    """Initial state of a deployment: the seed that it is drawn from."""
    render_profile: Look = "published"
    """How pictures are drawn."""
    object_outside: bool = False
    """The cube of Lift, or the red one of Stack, begins beside the range in which robosuite puts it."""


class LiberoOptions(Schema):
    """`backend_options` of a scene of family `libero`."""

    family: Literal["libero"]
    """This simulator."""
    tasks: Annotated[Many[Annotated[Word, AfterValidator(_of_libero)]], AfterValidator(_not_empty)]
    """`suite/task`."""
    init_id: AnyState = 0
    """Initial state of a deployment: the number of one that is stored with the task."""
    render_profile: Look = "published"
    """How pictures are drawn."""


class FakeOptions(Schema):
    """`backend_options` of a scene of family `fake`, the point arm for tests."""

    family: Literal["fake"]
    """This simulator."""
    tasks: TaskList
    """Any names; each is a point to reach."""
    init_id: AnyState = 0
    """Initial state of a deployment."""
    render_profile: Look = "fast"
    """Read by what writes of a run; the pictures do not depend on it."""
    fail_after: Count | None = None
    """Control steps after which a step fails."""
    hang_in: AnyState | None = None
    """Initial state in which a step never returns."""


class ModelOptions(Schema):
    """What is read of a scene of family `mjcf` before its model is; its other keys are the simulator's to judge."""

    model_config = ConfigDict(extra="ignore")
    family: Literal["mjcf"]
    """This simulator."""
    tasks: TaskList
    """Names of tasks; the first is the one that the world starts in."""
    init_id: AnyState = 0
    """Initial state of a deployment."""


FAMILIES: dict[str, type[Schema]] = {
    "metaworld": MetaWorldOptions,
    "libero": LiberoOptions,
    "robosuite": RobosuiteOptions,
    "mjcf": ModelOptions,
    "fake": FakeOptions,
}
"""Family -> what its scenes may say."""
