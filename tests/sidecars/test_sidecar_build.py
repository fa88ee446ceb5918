"""The smallest real sidecar: an interpreter of its own with numpy, msgpack and pyzmq from the index."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.sidecar import Identity, Sidecar

CODE = """
import argparse, sys
from openral_sidecar.identity import Identity
from openral_sidecar.server import serve, server_arguments, server_options

parser = argparse.ArgumentParser()
server_arguments(parser)
describe = lambda: {"prefix": sys.prefix, "python": list(sys.version_info[:2])}
serve({"echo": lambda data: data}, Identity("bare"), server_options(parser.parse_args()), describe=describe)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server's module of this test's own."""
    (tmp_path / "bare_sidecar.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "bare_sidecar"


@pytest.mark.parametrize("python", ["3.10", "3.11"])
def test_a_server_runs_in_an_environment_of_its_own(module: str, python: str) -> None:
    spec = SidecarSpec("bare", python, (), module)
    lines: list[str] = []
    with Sidecar.open(spec, [], Identity("bare"), progress=lines.append) as sidecar:
        assert ".".join(map(str, sidecar.description["python"])) == python
        assert sidecar.description["prefix"] != sys.prefix
        image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
        np.testing.assert_array_equal(sidecar.call("echo", {"image": image})["image"], image)
