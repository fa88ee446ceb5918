"""Parameters of nodes: values with a type, single parameters, files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.frontend import Parser
from launch.logging import launch_config
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch.utilities.type_utils import coerce_to_type, is_substitution
from launch.utilities.values import parse_bool, parse_yaml_value


class ParameterValue:
    """A value whose type is fixed instead of guessed from its text.

    Args:
        value: a plain value, or substitutions that yield its text.
        value_type: `bool`, `int`, `float`, `str` or a `list[...]` of one; None to read the text as YAML.
    """

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        self.__value = normalize_to_list_of_substitutions(value) if is_substitution(value) else value
        self.__value_type = value_type

    @property
    def value(self) -> Any:
        """The value, before substitution."""
        return self.__value

    @property
    def value_type(self) -> Any:
        """The type asked for."""
        return self.__value_type

    def evaluate(self, context: LaunchContext) -> Any:
        """Return the value in its type; raise ValueError when its text does not fit the type.

        Text that is written plainly is no text of another type: only substitutions are read as YAML.
        """
        if isinstance(self.__value, str):
            if self.__value_type not in (None, str):
                raise ValueError(f"parameter value {self.__value!r} is text, not {self.__value_type}")
            return self.__value
        value = evaluate_value(context, self.__value, guess=self.__value_type is None)
        return _convert(value, self.__value_type)


class Parameter:
    """One parameter: its name and its value, see `ParameterValue`."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, *, value_type: Any = None) -> None:
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = ParameterValue(value, value_type=value_type)
        self.__evaluated: tuple[str, Any] | None = None

    @property
    def name(self) -> Any:
        """The name; before it was evaluated, its substitutions."""
        return self.__name if self.__evaluated is None else self.__evaluated[0]

    @property
    def value(self) -> Any:
        """The value; before it was evaluated, as it was given."""
        return self.__value.value if self.__evaluated is None else self.__evaluated[1]

    @property
    def value_type(self) -> Any:
        """The type asked for."""
        return self.__value.value_type

    def evaluate(self, context: LaunchContext) -> tuple[str, Any]:
        """Return name and value."""
        self.__evaluated = perform_substitutions(context, self.__name), self.__value.evaluate(context)
        return self.__evaluated


class ParameterFile:
    """A YAML file of parameters.

    Args:
        param_file: its path.
        allow_substs: whether `$(...)` in the file is replaced; as in launch files in markup.
    """

    def __init__(
        self, param_file: SomeSubstitutionsType, *, allow_substs: bool | SomeSubstitutionsType = False
    ) -> None:
        self.__path = normalize_to_list_of_substitutions(param_file)
        self.__allow_substs = allow_substs
        self.__evaluated: Path | None = None
        self.__written: Path | None = None

    @property
    def param_file(self) -> list[Substitution] | Path:
        """The path of the file to pass to a node; before it was evaluated, the substitutions."""
        return self.__path if self.__evaluated is None else self.__evaluated

    @property
    def allow_substs(self) -> bool | SomeSubstitutionsType:
        """Whether substitutions in the file are performed."""
        return self.__allow_substs

    def evaluate(self, context: LaunchContext, target: Path | None = None) -> Path:
        """Return the path of the file to pass to a node.

        Args:
            context: the launch's state.
            target: where to write the file with its substitutions performed, if it may hold any; by default
                beside the logs.

        Raises:
            FileNotFoundError: when there is no such file.
        """
        self.__evaluated = self.__evaluate(context, target)
        return self.__evaluated

    def cleanup(self) -> None:
        """Remove the file that was written for the substitutions, if one was; the next run writes another."""
        if self.__written is not None:
            self.__written.unlink(missing_ok=True)
        self.__written = self.__evaluated = None

    def __evaluate(self, context: LaunchContext, target: Path | None) -> Path:
        path = Path(perform_substitutions(context, self.__path))
        if not path.is_file():
            raise FileNotFoundError(f"parameter file '{path}' was not found")
        allowed = self.__allow_substs
        if not isinstance(allowed, bool):
            allowed = parse_bool(perform_substitutions(context, normalize_to_list_of_substitutions(allowed)))
        if not allowed:
            return path
        target = target or Path(launch_config.log_dir) / f"parameters-{path.stem}-{id(self):x}.yaml"
        try:
            parts = Parser().parse_substitution(path.read_text(encoding="utf-8"))
            target.write_text(perform_substitutions(context, parts), encoding="utf-8")
        except (RuntimeError, ValueError) as error:
            raise SubstitutionFailure(f"parameter file '{path}': {error}") from error
        self.__written = target
        return target


def evaluate_value(context: LaunchContext, value: Any, *, guess: bool = True) -> Any:
    """Return a parameter's value with substitutions performed.

    Text from substitutions is read as YAML when `guess` is set, so that `'1'` becomes a number; text written
    plainly stays text. Lists of substitutions and text are one value, concatenated, as everywhere in launch;
    other lists are
    arrays.
    """
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, Substitution):
        return _guessed(perform_substitutions(context, [value]), guess)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict)):
        items = list(value)
        if any(isinstance(item, Substitution) for item in items) and all(
            isinstance(i, (str, Substitution)) for i in items
        ):
            return _guessed(perform_substitutions(context, normalize_to_list_of_substitutions(items)), guess)
        return [evaluate_value(context, item, guess=guess) for item in items]
    return value.item() if hasattr(value, "item") else value


def flattened(
    context: LaunchContext,
    values: Mapping[Any, Any],
    evaluate: Callable[[LaunchContext, Any], Any],
    above: str = "",
) -> Iterator[tuple[str, Any]]:
    """Yield name and evaluated value of each parameter of nested dicts, the names joined by '.'."""
    for key, value in values.items():
        name = above + perform_substitutions(context, normalize_to_list_of_substitutions(key))
        if isinstance(value, Mapping):
            yield from flattened(context, value, evaluate, f"{name}.")
        else:
            yield name, evaluate(context, value)


def _guessed(text: str, guess: bool) -> Any:
    if not guess:
        return text
    from rclpy.impl.parameter_yaml import plain_value

    value = parse_yaml_value(text)
    if isinstance(value, str) and value == text:
        value = plain_value(text)  # as the node would read it: YAML takes 1e-3 for a text
    if isinstance(value, (bool, int, float, list)) or (isinstance(value, str) and text[:1] in ("'", '"')):
        return value
    # No parameter is a mapping, and a robot description may parse as anything: keep what was written.
    return text


def _convert(value: Any, value_type: Any) -> Any:
    if value_type is str:
        return value if isinstance(value, str) else str(value)
    if value_type is not None and isinstance(value, str):
        value = coerce_to_type(value, bool) if value_type is bool else parse_yaml_value(value)
        if value_type is float and isinstance(value, str):
            value = coerce_to_type(value, float, can_be_str=True)  # YAML takes 1e-3 for a text
    if value_type is None:
        if isinstance(value, list) and len({type(item) for item in value}) > 1:
            raise ValueError(f"the items of the parameter value {value!r} are of several types")
        return value
    element = getattr(value_type, "__args__", (None,))[0]
    if element is not None:
        if not isinstance(value, list):
            raise ValueError(f"parameter value {value!r} is no list of {element.__name__}")
        return [_convert(item, element) for item in value]
    fits: tuple[type, ...] = {bool: (bool,), int: (int,), float: (float, int), list: (list,)}[value_type]
    if not isinstance(value, fits) or (value_type is not bool and isinstance(value, bool)):
        raise ValueError(f"parameter value {value!r} is no {value_type.__name__}")
    return float(value) if value_type is float else value  # type: ignore[arg-type]
