"""Parameters as arguments of a command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from launch import LaunchContext
from launch.logging import launch_config

from .parameter_descriptions import Parameter, ParameterFile, evaluate_value, flattened
from .parameter_files import has_sections

ParameterArgument = tuple[str, bool]
"""Path of a parameter file and True, or `name:=value` and False."""


def _as_yaml(value: Any, **options: Any) -> str:
    from rclpy.impl.parameter_yaml import ParameterDumper

    text: str = yaml.dump(value, Dumper=ParameterDumper, **options)
    return text


def as_words(arguments: Iterable[ParameterArgument]) -> list[str]:
    """Return the words of a command line for arguments."""
    return [word for text, is_file in arguments for word in ("--params-file" if is_file else "-p", text)]


def global_parameters(context: LaunchContext) -> list[ParameterArgument]:
    """Return the arguments for what `SetParameter` and `SetParametersFromFile` gave to all nodes."""
    given = context.launch_configurations.get("global_params", [])
    return [(item, True) if isinstance(item, str) else _assignment(*item) for item in given]


def own_parameters(
    context: LaunchContext, items: Iterable[Any], scope: str, label: str, *, flat_files: bool = False
) -> list[ParameterArgument]:
    """Return the arguments for a node's own parameters, see `launch_ros.actions.Node`.

    Args:
        context: the launch's state.
        items: files, `Parameter`s and dicts.
        scope: full name of the node, or a pattern such as `/**`, for which dicts are meant.
        label: what the files written for dicts are called.
        flat_files: whether a file may hold names and values alone, which are meant for `scope`.
    """
    name = label.replace("/", "-")  # of a process, which may have slashes
    return [
        _argument(context, item, scope, Path(launch_config.log_dir) / f"{name}-{index}.yaml", flat_files)
        for index, item in enumerate(items)
    ]


def _argument(
    context: LaunchContext, item: Any, scope: str, target: Path, flat_files: bool
) -> ParameterArgument:
    if isinstance(item, Parameter):
        return _assignment(*item.evaluate(context))
    if isinstance(item, Mapping):
        values = dict(flattened(context, item, evaluate_value))
        # The file lies beside the logs, so that a run can be looked at and repeated.
        target.write_text(_as_yaml({scope: {"ros__parameters": values}}, sort_keys=False), encoding="utf-8")
        return str(target), True
    file = item if isinstance(item, ParameterFile) else ParameterFile(item)
    path = file.evaluate(context, target)
    content = yaml.safe_load(path.read_text(encoding="utf-8")) if flat_files else None
    if isinstance(content, dict) and not has_sections(content):
        return _argument(context, content, scope, target, False)
    return str(path), True


def _assignment(name: str, value: Any) -> ParameterArgument:
    text = _as_yaml(value, default_flow_style=True, width=10**9).strip().removesuffix("\n...").strip()
    return f"{name}:={text}", False
