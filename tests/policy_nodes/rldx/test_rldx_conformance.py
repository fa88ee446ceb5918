"""The conformance server, frame by frame: what it answers is what facts and upstream's code say of the real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import zmq
from rldx_helpers import Started

from openral_sidecar.wires.rldx import ModalityConfig, decode, encode

PATIENCE_MS = 60_000
WORDS = "annotation.human.action.task_description"
Ask = Callable[..., Any]


@pytest.fixture
def ask() -> Iterator[Ask]:
    """Send one frame or value to a server on a bare REQ socket, as upstream's client does; return the reply."""
    context = zmq.Context()

    def call(server: Started, request: Any) -> Any:
        client = context.socket(zmq.REQ)
        client.setsockopt(zmq.LINGER, 0)
        client.connect(f"tcp://127.0.0.1:{server.port}")
        client.send(request if isinstance(request, bytes) else encode(request))
        assert client.poll(PATIENCE_MS)
        reply = client.recv()
        client.close()
        return decode(reply)

    yield call
    context.destroy(linger=0)


def observation(frames: int = 4, batch: int = 1) -> dict[str, Any]:
    names = ("x", "y", "z", "roll", "pitch", "yaw")
    state = {f"state.{name}": np.zeros((batch, 1, 1), np.float32) for name in names}
    videos = {
        name: np.zeros((batch, frames, 8, 8, 3), np.uint8) for name in ("video.image", "video.wrist_image")
    }
    gripper = np.zeros((batch, 1, 2), np.float32)
    return {**videos, **state, "state.gripper": gripper, WORDS: ["lift the bowl"] * batch}


def get_action(frames: int = 4, batch: int = 1, **options: Any) -> dict[str, Any]:
    data = {"observation": observation(frames, batch), "options": options or None}
    return {"endpoint": "get_action", "data": data}


def test_ping_and_modalities(start, ask: Ask) -> None:
    server = start()
    assert ask(server, {"endpoint": "ping"}) == {"status": "ok", "message": "Server is running"}
    config = ask(server, {"endpoint": "get_modality_config"})
    assert set(config) == {"video", "state", "action", "language"}
    assert config["video"] == ModalityConfig((-6, -4, -2, 0), ("front_view", "left_wrist_view"))
    assert config["action"].delta_indices == tuple(range(16))
    assert [part.rep for part in config["action"].action_configs] == ["DELTA", "DELTA", "ABSOLUTE"]


def test_action_is_a_list_of_two_with_libero_names(start, ask: Ask) -> None:
    server = start()
    action, info = ask(server, get_action(batch=2))
    assert info == {"conformance": "random weights, proves plumbing only"}
    assert list(action) == [f"action.{name}" for name in ("x", "y", "z", "roll", "pitch", "yaw", "gripper")]
    assert all(part.shape == (2, 16, 1) and part.dtype == np.float32 for part in action.values())
    assert set(np.unique(action["action.gripper"])) <= {0.0, 1.0}
    # A request without an endpoint is a get_action.
    assert len(ask(server, {"data": get_action()["data"]})) == 2


def test_errors_are_texts_and_the_server_goes_on(start, ask: Ask) -> None:
    server = start()
    assert ask(server, {"endpoint": "fly"}) == {"error": "Unknown endpoint: fly"}
    incomplete = get_action()
    del incomplete["data"]["observation"]["state.gripper"]
    assert ask(server, incomplete) == {"error": "'state.gripper_close'"}
    assert "must be a mapping" in ask(server, {"endpoint": "get_action", "data": None})["error"]
    assert "no attribute 'get'" in ask(server, ["ping"])["error"]
    assert "error" in ask(server, b"\xc1")
    for sessions, text in (
        (["a"], "session_ids length 1 != batch size 2"),
        (["a", 5], "session_ids[1] must be str"),
    ):
        assert text in ask(server, get_action(batch=2, session_ids=sessions))["error"]
    assert ask(server, {"endpoint": "ping"})["status"] == "ok"


def test_strictness_contradicts_the_libero_path(start, ask: Ask) -> None:
    server = start("--strict")
    assert ask(server, get_action()) == {"error": "Action key 'action.eef_pos_delta' must be in action"}
    assert ask(server, get_action(frames=1)) == {"error": "Video key 'front_view's horizon must be 4. Got 1"}


def test_native_layout(start, ask: Ask) -> None:
    server = start("--strict", "--no-use-sim-policy-wrapper")
    nested = {
        "video": {key: np.zeros((1, 4, 8, 8, 3), np.uint8) for key in ("front_view", "left_wrist_view")},
        "state": {
            "eef_pos_absolute": np.zeros((1, 1, 3), np.float32),
            "eef_rot_absolute": np.zeros((1, 1, 3), np.float32),
            "gripper_close": np.zeros((1, 1, 2), np.float32),
        },
        "language": {WORDS: [["lift the bowl"]]},
    }
    action, _ = ask(server, {"endpoint": "get_action", "data": {"observation": nested}})
    assert {key: part.shape for key, part in action.items()} == {
        "eef_pos_delta": (1, 16, 3),
        "eef_rot_delta": (1, 16, 3),
        "gripper_close": (1, 16, 1),
    }
    nested["state"]["gripper_close"] = np.zeros((1, 1, 1), np.float32)
    assert (
        "gripper_close" in ask(server, {"endpoint": "get_action", "data": {"observation": nested}})["error"]
    )


def test_reset_forgets_the_named_sessions_or_all(start, ask: Ask) -> None:
    server = start()

    def forget(options: Any) -> list[str]:
        return ask(server, {"endpoint": "reset", "data": {"options": options}})["cleared_sessions"]

    first = ask(server, get_action(session_ids=["a"]))[0]["action.x"]
    again = ask(server, get_action(session_ids=["a"]))[0]["action.x"]
    assert not np.array_equal(first, again)
    ask(server, get_action(batch=2, session_ids=["b", "c"]))
    assert forget({"session_ids": ["a", "never"]}) == ["a"]
    np.testing.assert_array_equal(ask(server, get_action(session_ids=["a"]))[0]["action.x"], first)
    assert forget(None) == ["b", "c", "a"]


def test_token_guards_everything_kill_included(start, ask: Ask, tmp_path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    server = start("--token-file", str(token))
    for request in ({"endpoint": "ping"}, {"endpoint": "kill"}, {"endpoint": "ping", "api_token": "guess"}):
        assert ask(server, request) == {"error": "Unauthorized: Invalid API token"}
    assert ask(server, {"endpoint": "ping", "api_token": "secret"})["status"] == "ok"
    assert ask(server, {"endpoint": "kill", "api_token": "secret"}) is None
    assert server.process.wait(PATIENCE_MS / 1000) == 0
