"""What listens, and who may come in: nothing off loopback without a token, and no word that ends a server."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import psutil
import pytest
from faults_commands import serve
from faults_deployment import Deployed
from system_stack import wait_for

from openral_core.errors import SidecarError
from openral_sidecar.client import SidecarClient
from openral_sidecar.server_announcement import read_announcement


def sockets_of(process: psutil.Process) -> list[tuple[str, int]]:
    """Return the internet addresses at which a process can be reached, datagrams too."""
    try:
        found = process.net_connections("inet")
    except psutil.NoSuchProcess:
        return []
    return [tuple(each.laddr) for each in found if each.laddr and not each.raddr]


def test_no_process_of_a_deployment_can_be_reached_from_outside(shared: Deployed, figure: Any) -> None:
    shared.mission("open the drawer")
    processes = shared.stack.processes()
    found = {address for process in processes for address in sockets_of(process)}
    outside = [address for address in found if not ipaddress.ip_address(address[0]).is_loopback]
    assert outside == [], "sockets that are not on loopback"
    figure(
        row=28,
        injected="a look at every socket of a deployment with its sidecar",
        times=len(processes),
        happened=f"{len(found)} internet sockets, all on loopback",
        worst=0,
        unit="off loopback",
        bar="0",
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_off_loopback_needs_a_token(tmp_path: Path, figure: Any, host: str) -> None:
    server = serve(tmp_path, tmp_path / "said.txt", "--host", host)
    assert server.wait(60) != 0
    said = (tmp_path / "said.txt").read_text()
    assert "token" in said, said
    figure(
        row=28,
        injected=f"a sidecar's server told to listen at {host} without a token",
        times=1,
        happened="it did not start, and named the option",
        bar="refused",
    )


def test_a_server_serves_and_ends_for_nobody_without_its_token(
    tmp_path: Path, figure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path))
    (tmp_path / "token").write_text("s" * 40)
    server = serve(tmp_path, tmp_path / "said.txt", "--token-file", str(tmp_path / "token"))
    try:
        wait_for(lambda: list(tmp_path.glob("run/*.json")), "the server's identity file")
        [file] = tmp_path.glob("run/*.json")
        announced = read_announcement(int(file.stem))
        assert announced is not None
        tried = 0
        for token in ("", "s" * 39, "s" * 41, "x" * 40):
            client = SidecarClient(f"tcp://{announced.host}:{announced.port}", token=token)
            for op in ("act", "stop", "kill", "hello"):
                with pytest.raises(SidecarError, match="token"):
                    client.call(op, {}, timeout_s=30.0)
                tried += 1
            client.close()
        right = SidecarClient(announced.endpoint, token="s" * 40)
        with pytest.raises(SidecarError, match="no 'kill'"):
            right.call("kill", {}, timeout_s=30.0)
        assert right.call("hello", timeout_s=30.0)
        right.close()
        assert server.poll() is None
    finally:
        server.kill()
        server.wait(60)
    figure(
        row=28,
        injected="calls without a token and with a wrong one; the word kill with the right one",
        times=tried + 1,
        happened="all refused; the server lives",
        bar="all refused",
    )
