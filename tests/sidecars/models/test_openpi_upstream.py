"""openpi's own server and client, as released, against ours: the same bytes, the same answers."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from openral_core.errors import SidecarError
from openral_policy_nodes.families.external import openpi_wire
from openral_policy_nodes.families.external.address import parse_url
from openral_policy_nodes.families.external.fake_server import FakeAnswers, FakeOpenpiServer
from openral_policy_nodes.families.external.link import OpenpiLink, probe
from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.environment.spec import InstallStep, SidecarSpec

SPEC = SidecarSpec(
    name="openpi_tests",
    python="3.11",
    steps=(
        InstallStep(("numpy==1.26.4", "msgpack==1.1.0", "websockets==15.0.1", "typing-extensions>=4,<5")),
        InstallStep(("openpi-client==0.1.2", "openpi-server==0.1.0"), no_deps=True),
    ),
    module="openpi_server",
)

SERVER = """
import sys
import numpy as np
from openpi_server.websocket_policy_server import WebsocketPolicyServer

class Echo:
    def infer(self, obs):
        if obs["prompt"] == "fail":
            raise ValueError("told to fail")
        state = np.asarray(obs["observation/state"], np.float32)
        return {"actions": np.tile(state, (10, 1)) + obs["observation/image"].mean()}

print(int(sys.argv[1]), flush=True)
WebsocketPolicyServer(Echo(), host="127.0.0.1", port=int(sys.argv[1]), metadata={"policy": "echo"}).serve_forever()
"""

CLIENT = """
import json, sys
import numpy as np
from openpi_client import msgpack_numpy
from openpi_client.websocket_client_policy import WebsocketClientPolicy

client = WebsocketClientPolicy("127.0.0.1", int(sys.argv[1]), api_key="s3cret")
image = np.full((4, 4, 3), 7, np.uint8)
observation = {"observation/image": image, "observation/state": np.arange(8.0), "prompt": "go"}
answer = client.infer(observation)
print(json.dumps({
    "metadata": client.get_server_metadata(), "actions": answer["actions"].tolist(),
    "dtype": answer["actions"].dtype.str, "frame": msgpack_numpy.packb(observation).hex(),
}))
"""


@pytest.fixture(scope="module")
def python() -> Path:
    return ensure_environment(SPEC)


@pytest.fixture
def upstream(python: Path, unused_port: int) -> Iterator[str]:
    process = subprocess.Popen([str(python), "-c", SERVER, str(unused_port)], stdout=subprocess.PIPE)
    url = f"ws://127.0.0.1:{unused_port}"
    try:
        while process.poll() is None:
            try:
                probe(parse_url(url))
                break
            except SidecarError:  # not up yet
                continue
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        return int(probe_socket.getsockname()[1])


def test_our_client_with_upstreams_server(upstream: str) -> None:
    link = OpenpiLink(parse_url(upstream))
    image = np.full((224, 224, 3), 2, np.uint8)
    seen = {"observation/image": image, "observation/state": np.arange(8, dtype=np.float32), "prompt": "go"}
    answer = link.infer(seen, 60.0)
    assert link.metadata == {"policy": "echo"}
    np.testing.assert_array_equal(answer["actions"], np.tile(np.arange(8) + 2.0, (10, 1)))
    assert answer["server_timing"]["infer_ms"] >= 0
    with pytest.raises(SidecarError, match="ValueError: told to fail"):
        link.infer({**seen, "prompt": "fail"}, 60.0)
    assert link.infer(seen, 60.0)["actions"].shape == (10, 8)
    link.close()


def test_upstreams_client_with_our_server(python: Path) -> None:
    answers = FakeAnswers((0.5, -1.0))
    server = FakeOpenpiServer(answers, token="s3cret")
    done = subprocess.run(
        [str(python), "-c", CLIENT, str(server.port)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    server.close()
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["metadata"] == {"policy": "fake", "action_horizon": 16}
    assert (said["actions"], said["dtype"]) == ([[0.5, -1.0]] * 16, "<f4")
    [seen] = answers.seen
    assert openpi_wire.pack(seen).hex() == said["frame"]  # read and written again: the same bytes
