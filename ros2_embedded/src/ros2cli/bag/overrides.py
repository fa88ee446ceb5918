"""QoS profiles from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from rosbag2_py.qos_profiles import KEYS, from_mapping

from ..errors import CliError

if TYPE_CHECKING:
    from rclpy.qos import QoSProfile


def read_overrides(path: str | None) -> dict[str, QoSProfile]:
    """Return the profiles of topics in a YAML file, `topic: {reliability: best_effort, depth: 5, ...}`.

    Raises:
        CliError: the file cannot be read or holds something else.
    """
    if path is None:
        return {}
    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {}
        for topic, profile in values.items():
            unknown = [key for key in profile if key not in KEYS]
            if unknown:
                raise ValueError(f"{topic}: unknown QoS policy '{unknown[0]}'; use {', '.join(KEYS)}")
        return {topic: from_mapping(profile) for topic, profile in values.items()}
    except (OSError, yaml.YAMLError, ValueError, AttributeError, TypeError) as error:
        raise CliError(f"cannot read QoS profiles from '{path}': {' '.join(str(error).split())}") from error
