"""Our launcher over a stand-in of upstream's package: what it passes on, what it adds, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rldx_helpers import PATIENCE_S, make_batch, wait_for

from openral_core.errors import SidecarError
from openral_policy_nodes.families.rldx.policy import RldxPolicy
from openral_sidecar.client import SidecarClient
from openral_sidecar.identity import Identity
from openral_sidecar.server_announcement import ServerIdentity, announcements

UPSTREAM = Path(__file__).with_name("upstream")
MODEL = "RLWRLD/RLDX-1-FT-LIBERO"
Launch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Run the launcher with the stand-in, or another folder, on its path."""
    processes: list[subprocess.Popen[str]] = []

    def run(*words: str, path: Path = UPSTREAM) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-m",
            "openral_policy_nodes.families.rldx.server",
            "--model",
            MODEL,
            "--device",
            "cpu",
            *words,
        ]
        process = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": str(path)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        processes.append(process)
        return process

    yield run
    for process in processes:
        process.kill()
        process.communicate()


class OneServer(SidecarClient):
    """A client of a server that nobody starts again."""

    starts = 1


def announced(process: subprocess.Popen[str]) -> ServerIdentity:
    def look() -> ServerIdentity | None:
        assert process.poll() is None, process.communicate()[1]
        return next((found for found in announcements() if found.pid == process.pid), None)

    return wait_for(look, "the identity file")


@pytest.mark.parametrize("end", ["kill", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_upstream_is_started_loose_and_wrapped_and_announced(launch: Launch, package, end: str) -> None:
    process = launch("--embodiment-tag", "GENERAL_EMBODIMENT")
    server = announced(process)
    assert server.identity == Identity(MODEL, "GENERAL_EMBODIMENT", "none")
    client = OneServer(server.endpoint, dialect="rldx")
    chunks = RldxPolicy(package().manifest, client).predict(make_batch("one"))
    assert chunks.shape == (1, 16, 7)
    if end == "kill":
        client.call("kill", timeout_s=PATIENCE_S)
    else:
        process.send_signal(signal.SIGTERM)
    client.close()
    output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert f"upstream {MODEL} GENERAL_EMBODIMENT" in output
    assert "'device': 'cpu'" in output
    assert not list(announcements())


@pytest.mark.slow
def test_token_and_folder_of_the_checkpoint(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret")
    server = announced(launch("--token-file", str(tmp_path / "token"), "--checkpoint", str(tmp_path)))
    assert server.identity.model == MODEL
    guess = SidecarClient(server.endpoint, token="guess", dialect="rldx")
    with pytest.raises(SidecarError, match="Invalid API token"):
        guess.call("kill", timeout_s=PATIENCE_S)
    guess.close()
    client = SidecarClient(server.endpoint, token="secret", dialect="rldx")
    assert client.call("ping", timeout_s=PATIENCE_S)["status"] == "ok"
    client.close()


@pytest.mark.slow
def test_code_of_the_checkpoint_is_not_run(
    launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    mark = tmp_path / "was run"
    (tmp_path / "own.py").write_text(f"open({str(mark)!r}, 'w')")
    config = {"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    process = launch("--checkpoint", str(tmp_path))
    assert "the checkpoint wants to run code of its own" in process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode != 0
    assert not mark.exists()


@pytest.mark.slow
def test_without_upstream_or_with_another_it_says_so(launch: Launch, tmp_path: Path) -> None:
    code, text = launch(path=tmp_path), "No module named 'rldx'; build the sidecar's environment anew"
    assert text in code.communicate(timeout=PATIENCE_S)[1]
    other = tmp_path / "rldx" / "policy"
    other.mkdir(parents=True)
    for name in ("rldx_policy", "policy_loader", "server_client"):
        (other / f"{name}.py").touch()
    process = launch(path=tmp_path)
    assert "rldx.policy.server_client has no PolicyServer" in process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode != 0


def test_off_loopback_it_needs_a_token(launch: Launch) -> None:
    process = launch("--host", "0.0.0.0")
    assert "give a --token-file" in process.communicate(timeout=PATIENCE_S)[1]
