"""Parameters as words of a command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from launch import LaunchContext
from launch.logging import launch_config
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from .parameter_descriptions import Parameter, ParameterFile, evaluate_value


def global_parameter_words(context: LaunchContext) -> list[str]:
    """Return the words for what `SetParameter` and `SetParametersFromFile` gave to all nodes."""
    words: list[str] = []
    for item in context.launch_configurations.get("global_params", []):
        words += ["--params-file", item] if isinstance(item, str) else _assignment(*item)
    return words


def parameter_words(
    context: LaunchContext, items: Iterable[Any], scope: str, label: str, *, flat_files: bool = False
) -> list[str]:
    """Return the words for a node's own parameters, see `launch_ros.actions.Node`.

    Args:
        context: the launch's state.
        items: files, `Parameter`s and dicts.
        scope: full name of the node, or a pattern such as `/**`, for which dicts are meant.
        label: what the files written for dicts are called.
        flat_files: whether a file may hold names and values alone, which are meant for `scope`.
    """
    words: list[str] = []
    for index, item in enumerate(items):
        target = Path(launch_config.log_dir) / f"{label}-{index}.yaml"
        words += _words(context, item, scope, target, flat_files)
    return words


def _words(context: LaunchContext, item: Any, scope: str, target: Path, flat_files: bool) -> list[str]:
    if isinstance(item, Parameter):
        return _assignment(*item.evaluate(context))
    if isinstance(item, Mapping):
        values = dict(_flatten(context, item, ""))
        # The file lies beside the logs, so that a run can be looked at and repeated.
        target.write_text(yaml.safe_dump({scope: {"ros__parameters": values}}), encoding="utf-8")
        return ["--params-file", str(target)]
    file = item if isinstance(item, ParameterFile) else ParameterFile(item)
    path = file.evaluate(context, target)
    content = yaml.safe_load(path.read_text(encoding="utf-8")) if flat_files else None
    if isinstance(content, dict) and not _names_nodes(content):
        return _words(context, content, scope, target, False)
    return ["--params-file", str(path)]


def _names_nodes(values: Mapping[Any, Any]) -> bool:
    """Whether a file has a section `ros__parameters` at any depth."""
    inner = [value for value in values.values() if isinstance(value, Mapping)]
    return "ros__parameters" in values or any(map(_names_nodes, inner))


def _flatten(context: LaunchContext, values: Mapping[Any, Any], above: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = above + perform_substitutions(context, normalize_to_list_of_substitutions(key))
        if isinstance(value, Mapping):
            yield from _flatten(context, value, f"{name}.")
        else:
            yield name, evaluate_value(context, value)


def _assignment(name: str, value: Any) -> list[str]:
    text = yaml.safe_dump(value, default_flow_style=True, width=10**9).strip().removesuffix("\n...").strip()
    return ["-p", f"{name}:={text}"]
