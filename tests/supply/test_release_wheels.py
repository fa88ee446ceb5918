"""What a release names is what was built, also where an index has a newer distribution of that name."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from release import built
from wheels_made_here import make_wheel

Index = tuple[str, Callable[..., Path]]


def test_the_wheels_that_were_built_are_installed_and_not_those_of_an_index(
    index: Index, only_loopback: dict[str, str], uv: str, tmp_path: Path
) -> None:
    url, add = index
    dist = tmp_path / "dist"
    make_wheel(dist, "openral", "0.1.0", "ros2-embedded")
    make_wheel(dist, "ros2_embedded", "0.1.0")
    for name in ("openral", "ros2_embedded"):
        add(name, "9.9.0")  # a stranger's
    environ = {**only_loopback, "UV_DEFAULT_INDEX": url, "UV_FIND_LINKS": str(dist)}
    subprocess.run([uv, "venv", "--quiet", str(tmp_path / "empty")], check=True)
    python = str(tmp_path / "empty" / "bin" / "python")
    install = [uv, "pip", "install", "--quiet", "--python", python]
    subprocess.run([*install, *built(dist)], env=environ, check=True)
    there = subprocess.run(
        [uv, "pip", "list", "--format", "freeze", "--python", python],
        env=environ,
        capture_output=True,
        check=True,
    )
    assert there.stdout.decode().split() == ["openral==0.1.0", "ros2-embedded==0.1.0"]
