"""Policies that somebody else serves: both dialects over real sockets, and every way in which a server can fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import yaml

from openral_core.errors import ManifestError, PolicyError, SidecarError
from openral_core.files.share import share_directory
from openral_core.manifest import RSkillManifest
from openral_core.types import Policy, PolicyBatch
from openral_policy_nodes.families.adaptive_timeout import FIRST_S, LEAST_S
from openral_policy_nodes.families.external import openpi_wire
from openral_policy_nodes.families.external.address import Address, parse_url
from openral_policy_nodes.families.external.fake_server import FakeAnswers, FakeOpenpiServer, FakeZmqServer
from openral_policy_nodes.families.external.link import probe
from openral_policy_nodes.families.external.names import names_from
from openral_policy_nodes.families.external.policy import ZmqPolicy
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.compatibility import package_findings
from openral_rskill.registry import RSkillPackage, load_package
from openral_sidecar.errors import WireError

KEY = "observation.images.camera1"
ACTION = (0.25, -0.5, 0.0, 1.0)
NAMES = {
    "ws": {
        "images": {KEY: "observation/image"},
        "state": {"observation/state": 4},
        "actions": {"actions": 4},
    },
    "zmq": {
        "images": {KEY: "video.front"},
        "state": {"state.hand": 3, "state.gripper": 1},
        "instruction": "annotation.human.task_description",
        "actions": {"action.hand": 3, "action.gripper": 1},
        "sessions": True,
    },
}
MANIFEST = {
    "name": "tests/rskill-served",
    "version": "0.1.0",
    "license": "apache-2.0",
    "kind": "vla",
    "model_family": "external",
    "description": "Served elsewhere",
    "embodiment_tags": ["sawyer"],
    "sensors_required": [{"modality": "rgb", "vla_feature_key": KEY}],
    "actuators_required": [
        {"kind": "cartesian_delta", "control_mode_semantics": {"mode": "delta", "reference_frame": "world"}}
    ],
    "latency_budget": {"per_chunk_ms": 50.0},
    "chunk_size": 16,
    "actions": ["reach"],
    "state_contract": {"layout": "ee_pos3_gripper1", "dim": 4},
    "action_contract": {"dim": 4, "representation": "delta_ee_3d_plus_gripper", "step_m": 0.01},
}


def manifest(scheme: str, url: str = "", **names: Any) -> RSkillManifest:
    return RSkillManifest.model_validate(
        {**MANIFEST, "policy_extras": {**NAMES[scheme], "url": url, **names}}
    )


def batch(rows: int) -> PolicyBatch:
    images = np.arange(rows * 8 * 8 * 3, dtype=np.uint8).reshape(rows, 8, 8, 3)
    state = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
    names = [f"row {row}" for row in range(rows)]
    return PolicyBatch({KEY: images}, state, [f"do {name}" for name in names], names)


def opened(scheme: str, answers: FakeAnswers, token: str = "") -> FakeOpenpiServer | FakeZmqServer:
    if scheme == "zmq":
        answers.names = dict(NAMES["zmq"]["actions"])
        return FakeZmqServer(answers, token=token)
    return FakeOpenpiServer(answers, token=token)


@pytest.fixture(params=["ws", "zmq"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def serve(scheme: str) -> Iterator[Any]:
    """Start a fake server and return it with the policy that asks it."""
    started: list[Any] = []

    def start(
        *, token: str = "", names: dict[str, Any] | None = None, **script: Any
    ) -> tuple[Any, Policy, FakeAnswers]:
        answers = FakeAnswers(ACTION, **script)
        server = opened(scheme, answers, token)
        policy = load_policy(RSkillPackage(manifest(scheme, server.url, **(names or {})), Path()))
        started.extend([policy, server])
        return server, policy, answers

    yield start
    for each in started:
        each.close()


def test_a_served_policy_gets_the_batch_under_its_own_names(scheme, serve):
    _, policy, answers = serve()
    policy.reset(["row 0", "row 1"])
    data = batch(2)
    chunks = policy.predict(data)
    assert chunks.shape == (2, 16, 4)
    assert chunks.dtype == np.float32
    np.testing.assert_array_equal(chunks, np.broadcast_to(np.float32(ACTION), (2, 16, 4)))
    if scheme == "zmq":
        [seen] = answers.seen
        np.testing.assert_array_equal(seen["video.front"], data.images[KEY][:, None])
        np.testing.assert_array_equal(seen["state.hand"], data.state[:, None, :3])
        np.testing.assert_array_equal(seen["state.gripper"], data.state[:, None, 3:])
        assert seen["annotation.human.task_description"] == ["do row 0", "do row 1"]
        return
    for row, seen in enumerate(answers.seen):
        np.testing.assert_array_equal(seen["observation/image"], data.images[KEY][row])
        np.testing.assert_array_equal(seen["observation/state"], data.state[row])
        assert seen["prompt"] == f"do row {row}"
    assert len(answers.seen) == 2


def test_longer_answers_are_cut_to_the_contract(serve):
    _, policy, _ = serve(horizon=50)
    assert policy.predict(batch(1)).shape == (1, 16, 4)


def test_a_gripper_that_is_one_when_open_is_turned_round():
    answers = FakeAnswers((0.0, 0.0, 0.0, 0.9), names=dict(NAMES["zmq"]["actions"]))
    server = FakeZmqServer(answers)
    policy = load_policy(RSkillPackage(manifest("zmq", server.url, open_unit="action.gripper"), Path()))
    assert policy.predict(batch(1))[0, :, 3].tolist() == [-1.0] * 16
    answers.action = (0.0, 0.0, 0.0, 0.1)
    assert policy.predict(batch(1))[0, :, 3].tolist() == [1.0] * 16
    policy.close()
    server.close()


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("fail", "told to fail"),
        ("wrong_shape", "the contract promises"),
        ("garbage", "not a message"),
    ],
)
def test_faults_of_a_server_are_said_in_one_line(serve, behaviour, words):
    _, policy, answers = serve(behaviour=behaviour, good_calls=1)
    policy.predict(batch(1))
    with pytest.raises(PolicyError, match=words) as caught:
        policy.predict(batch(1))
    assert "\n" not in str(caught.value)
    answers.behaviour = "answer"  # a lost connection is made anew
    assert policy.predict(batch(1)).shape == (1, 16, 4)


@pytest.mark.parametrize("said", ["\x1b[2Jtold to fail", "told to fail" * 100_000])
def test_a_strangers_words_are_short_and_printable(scheme, serve, said):
    names = {said: 4} if scheme == "ws" else {said: 3, "action.gripper": 1}
    _, policy, answers = serve(behaviour="fail", failure=said)
    for _ in ("its failure", "the names of its answer"):
        with pytest.raises(PolicyError, match="told to fail") as caught:
            policy.predict(batch(1))
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1000
        answers.behaviour, answers.names = "answer", names


class PatientClient:
    """Notes the deadline of each request."""

    def __init__(self) -> None:
        self.deadlines_s: list[tuple[str, float]] = []

    def call(self, op: str, data: Any, *, timeout_s: float) -> dict[str, Any]:
        self.deadlines_s.append((op, timeout_s))
        part = np.zeros((1, 16, 4), np.float32)
        return {"result": [{"action.hand": part[..., :3], "action.gripper": part[..., 3:]}, {}]}


def test_the_first_inference_has_its_long_deadline_also_after_sessions_were_reset():
    client = PatientClient()
    policy = ZmqPolicy(manifest("zmq"), client)  # type: ignore[arg-type]
    policy.reset(["row 0"])
    policy.predict(batch(1))
    policy.predict(batch(1))
    policy.reset(["row 0"])
    assert client.deadlines_s == [
        ("reset", LEAST_S),
        ("get_action", FIRST_S),
        ("get_action", LEAST_S),
        ("reset", LEAST_S),
    ]


def test_a_server_that_hangs_is_given_up(serve):
    _, policy, _ = serve(behaviour="hang", good_calls=2)
    policy.predict(batch(1))
    policy.predict(batch(1))  # the deadline is learnt from the second answer on
    with pytest.raises(PolicyError, match="no answer within"):
        policy.predict(batch(1))


def test_a_server_that_ends_is_named_with_its_address(scheme):
    server = opened(scheme, FakeAnswers(ACTION))
    policy = load_policy(RSkillPackage(manifest(scheme, server.url), Path()))
    policy.predict(batch(1))
    policy.predict(batch(1))
    server.close()
    with pytest.raises(PolicyError, match=str(server.port)):
        policy.predict(batch(1))
    policy.close()


def test_a_token_is_sent_and_demanded(scheme, monkeypatch):
    server = opened(scheme, FakeAnswers(ACTION), token="s3cret")
    monkeypatch.setenv("OPENRAL_POLICY_TOKEN", "s3cret")
    policy = load_policy(RSkillPackage(manifest(scheme, server.url), Path()))
    assert policy.predict(batch(1)).shape == (1, 16, 4)
    policy.close()
    monkeypatch.setenv("OPENRAL_POLICY_TOKEN", "guess")
    with pytest.raises(PolicyError, match=r"401|Unauthorized"):
        load_policy(RSkillPackage(manifest(scheme, server.url), Path())).predict(batch(1))
    server.close()


def test_a_probe_says_who_answers(scheme):
    server = opened(scheme, FakeAnswers(ACTION))
    said = probe(parse_url(server.url))
    assert said == {"policy": "fake", "action_horizon": 16} if scheme == "ws" else said["status"] == "ok"
    server.close()
    if scheme == "ws":
        with pytest.raises(SidecarError, match="start it there"):
            probe(parse_url(server.url))


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8000", "http://127.0.0.1:8000", "ws://127.0.0.1", "ws://me:pw@127.0.0.1:1", "ws://h:x"],
)
def test_malformed_addresses_are_refused(url):
    with pytest.raises(PolicyError, match="write ws://host:port"):
        parse_url(url)


def test_off_this_machine_only_with_a_token():
    with pytest.raises(PolicyError, match="OPENRAL_POLICY_TOKEN"):
        parse_url("ws://10.0.0.7:8000", {})
    far = parse_url("wss://policies.example:443/pi0/", {"OPENRAL_POLICY_TOKEN": "s3cret"})
    assert far == Address("wss", "policies.example", 443, "/pi0", "s3cret")
    assert "s3cret" not in far.url


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"actions": {"actions": 7}}, "actions have 7 numbers, action_contract.dim is 4"),
        ({"state": {"state": 3}}, "state has 3 numbers, state_contract.dim is 4"),
        ({"images": {"observation.images.wrist": "w"}}, "sensors_required observation.images.camera1"),
        ({"open_unit": "gripper"}, "open_unit gripper is no action"),
        ({"camera": 1}, "policy_extras.camera"),
    ],
)
def test_a_contract_that_does_not_add_up_is_refused(names, words):
    with pytest.raises(PolicyError, match=words):
        load_policy(RSkillPackage(manifest("ws", "ws://127.0.0.1:1", **names), Path()))


def test_a_contract_needs_names_and_no_weights(tmp_path):
    (tmp_path / "rskill.yaml").write_text(yaml.safe_dump(MANIFEST))
    with pytest.raises(ManifestError, match="policy_extras: is missing for family external"):
        load_package(tmp_path)


@pytest.mark.parametrize(("url", "ok"), [("ws://127.0.0.1:8000", True), ("", False)])
def test_a_skill_that_does_not_say_where_its_policy_is_served_fails_the_check(url, ok):
    [server] = [row for row in package_findings(manifest("ws", url)) if row.gate == "server"]
    assert server.ok is ok
    assert ok or server.fix.startswith("write it, such as ws://")


def test_arrays_and_scalars_go_both_ways():
    value = {"a": np.arange(6, dtype=np.int16).reshape(2, 3).T, "b": np.float32(0.5), "c": [True, None, b"x"]}
    back = openpi_wire.unpack(openpi_wire.pack(value))
    np.testing.assert_array_equal(back["a"], value["a"])
    assert back["a"].dtype == np.int16
    assert (back["b"], back["c"]) == (0.5, [True, None, b"x"])


@pytest.mark.parametrize(
    "array",
    [
        {b"__ndarray__": True, b"data": b"1234", b"dtype": "|O", b"shape": [1]},
        {b"__ndarray__": True, b"data": b"1234", b"dtype": "<f4", b"shape": [2**40]},
        {b"__ndarray__": True, b"data": b"1234", b"dtype": "<f4", b"shape": [-1]},
        {b"__ndarray__": True, b"data": b"1234", b"dtype": "<f4", b"shape": [1] * 40},
        {b"__ndarray__": True, b"data": b"1234", b"dtype": [["f", "O"]], b"shape": [1]},
        {b"__ndarray__": True},
        {b"__npgeneric__": True, b"data": "x", b"dtype": "|O"},
        {b"__npgeneric__": True, b"data": 2**40, b"dtype": "<i4"},
    ],
)
def test_malformed_arrays_are_refused(array):
    with pytest.raises(WireError):
        openpi_wire.unpack(msgpack.packb({"actions": array}))


@pytest.mark.parametrize("path", sorted((share_directory() / "suites" / "contracts").glob("*.yaml")))
def test_shipped_contracts_add_up(path):
    names = names_from(load_package(path).manifest)
    assert names.images
    assert names.actions
