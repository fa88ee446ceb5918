"""Servers that are started by hand: the licence gate first, the port next, then the server in the foreground."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from rldx_helpers import MODULE, PATIENCE_S, free_port, make_batch, wait_for

from openral_policy_nodes.families.rldx.policy import load
from openral_sidecar.client import SidecarClient
from openral_sidecar.server_announcement import read_announcement

ROOT = Path(__file__).parents[3]
TOOL = [sys.executable, "tools/rldx_sidecar.py", "--quantization", "nf4"]
MODEL = "RLWRLD/RLDX-1-FT-LIBERO"
CONFORMING = f"""
import sys
from dataclasses import replace
from openral_policy_nodes.families.rldx.foreground_server import run_by_hand
from openral_policy_nodes.families.rldx.spec import SPEC
sys.exit(run_by_hand(replace(SPEC, module="{MODULE}"), sys.argv[1:]))
"""


def refused(*words: str, **environment: str) -> str:
    done = subprocess.run(
        [*TOOL, *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def test_terms_come_before_everything(tmp_path: Path) -> None:
    error = refused("--model", MODEL, OPENRAL_ACCEPT_NONCOMMERCIAL="yes")
    assert f"error: {MODEL}: licence 'rlwrld_non_commercial' does not allow commercial use" in error
    assert "set OPENRAL_ACCEPT_NONCOMMERCIAL=1" in error
    assert not list((tmp_path / "cache").rglob("*sidecars*"))


@pytest.mark.slow
def test_a_taken_port_is_refused_before_the_model_is_loaded() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert f"127.0.0.1:{port}: Address already in use" in refused("--model", MODEL, "--port", str(port))


def test_a_server_by_hand_is_the_one_that_skills_use(package, monkeypatch: pytest.MonkeyPatch) -> None:
    port, skill = free_port(), package(weights_uri=f"hf://{MODEL}")
    words = ["--model", MODEL, "--port", str(port), "--quantization", "nf4"]
    server = subprocess.Popen([sys.executable, "-c", CONFORMING, *words])
    try:
        found = wait_for(lambda: read_announcement(port), "the server's identity file")
        assert (found.identity.model, found.spec, found.pid) == (MODEL, "rldx", server.pid)
        monkeypatch.setenv("OPENRAL_RLDX_AUTO_SPAWN", "0")
        monkeypatch.setenv("OPENRAL_RLDX_PORT", str(port))
        policy = load(skill)
        assert policy.predict(make_batch("one")).shape == (1, 16, 7)
        policy.close()
        client = SidecarClient(found.endpoint, dialect="rldx")
        assert client.call("kill", timeout_s=PATIENCE_S) == {"result": None}
        client.close()
        assert server.wait(PATIENCE_S) == 0
        assert read_announcement(port) is None
    finally:
        server.kill()
        server.wait()
