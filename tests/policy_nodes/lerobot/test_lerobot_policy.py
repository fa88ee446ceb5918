"""The client's half against a server of scripted chunks, over the real wire, in this interpreter."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lerobot_files import CAMERA, ROWS, ScriptedModel, features, write_checkpoint

from openral_core.errors import PolicyError
from openral_core.instant import Instant
from openral_core.types import PolicyBatch
from openral_policy_nodes.families.factory import BUILT_IN, load_policy
from openral_policy_nodes.families.lerobot.checkpoint import read_checkpoint
from openral_policy_nodes.families.lerobot.match import checkpoint_faults, feature_faults
from openral_policy_nodes.families.lerobot.policy import LeRobotPolicy
from openral_policy_nodes.families.lerobot.server import handlers
from openral_policy_nodes.families.lerobot.spec import spec_for
from openral_policy_nodes.goal_supervisor import GoalSupervisor, Limits
from openral_policy_nodes.inference import Inference
from openral_policy_nodes.inference_thread import PolicyRunner
from openral_sidecar.client import SidecarClient
from openral_sidecar.errors import SidecarTimeout
from openral_sidecar.server_announcement import announcements
from openral_sidecar.table import sidecar_spec

BATCH = PolicyBatch(
    {CAMERA: np.zeros((2, 32, 32, 3), np.uint8)},
    np.arange(8, dtype=np.float32).reshape(2, 4),
    ["open the drawer", "close it"],
    ["a", "b"],
)
PROCESSORS = {
    "preprocessor_uri": "local://policy_preprocessor.json",
    "postprocessor_uri": "local://policy_postprocessor.json",
}
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from lerobot_files import ScriptedModel, features
from openral_sidecar.identity import Identity
from openral_sidecar.server import ServerOptions, serve
from openral_policy_nodes.families.lerobot.server import handlers
from openral_policy_nodes.families.lerobot.spec import spec_for
model = ScriptedModel(features())
serve(handlers(model), Identity("scripted"), ServerOptions(), describe=model.features.to_wire)
"""


class Direct:
    """Calls the handlers in this process."""

    def __init__(self, promised):
        self.description = promised.to_wire()
        self.handlers = handlers(ScriptedModel(promised))
        self.closed = False
        self.starts = 1
        self.limits_s = []

    def call(self, op, data=None, *, timeout_s=None):
        self.limits_s.append(timeout_s)
        return self.handlers[op](dict(data or {}))

    def close(self):
        self.closed = True


class Remote:
    """Calls a server at the other end of a socket."""

    starts = 1

    def __init__(self, client):
        self.client = client
        self.description = client.call("hello", timeout_s=120)["description"]

    def call(self, op, data=None, *, timeout_s=None):
        return self.client.call(op, data, timeout_s=timeout_s)

    def close(self):
        pass


@pytest.fixture
def skill(make_skill):
    def make(changes=None):
        return make_skill({"model_family": "smolvla", "processors": PROCESSORS, **(changes or {})})

    return make


def test_the_first_chunk_size_actions_are_given(skill):
    server = Direct(features())
    policy = LeRobotPolicy(skill().manifest, server)
    chunk = policy.predict(BATCH)
    assert (chunk.shape, chunk.dtype) == ((2, 16, 4), np.float32)
    np.testing.assert_array_equal(chunk[1, 3], BATCH.state[1] + 3)
    policy.close()
    assert server.closed


def test_reset_reaches_the_server_by_episode(skill):
    policy = LeRobotPolicy(skill().manifest, Direct(features()))
    first, second = policy.predict(BATCH), policy.predict(BATCH)
    policy.reset(["b"])
    third = policy.predict(BATCH)
    np.testing.assert_array_equal(second - first, np.full_like(first, 100))
    np.testing.assert_array_equal(third[0] - first[0], np.full_like(first[0], 200))
    np.testing.assert_array_equal(third[1], first[1])


def test_the_first_chunk_of_a_server_that_was_restarted_has_the_deadline_of_a_first_one(skill):
    server = Direct(features())
    policy = LeRobotPolicy(skill().manifest, server)
    for starts in (1, 1, 2, 2):
        server.starts = starts
        policy.predict(BATCH)
    first, warm, after_a_restart, warm_again = server.limits_s
    assert after_a_restart == first > warm == warm_again


def test_a_goal_waits_for_the_first_chunk_of_a_server_that_was_restarted(skill, scene, sensors_at):
    server, package = Direct(features()), skill()
    inference = Inference(package.manifest, scene, LeRobotPolicy(package.manifest, server))
    inference.warm_up(sensors_at(1), "x")
    inference.warm_up(sensors_at(1), "x")
    asked, answer, go_on = threading.Semaphore(0), server.handlers["predict"], threading.Semaphore(0)

    def slow(data):
        asked.release()
        assert go_on.acquire(timeout=60)
        return answer(data)

    server.handlers["predict"], server.starts = slow, 2
    runner = PolicyRunner(inference, lambda chunk: None, 0, 0)
    runner.start("goal", "open the drawer")
    tells = []
    for stamp_ns in (10**9, 2 * 10**9):
        runner.offer(sensors_at(stamp_ns))
        assert asked.acquire(timeout=60)
        health = replace(runner.worker(), busy_s=100.0)
        verdict = GoalSupervisor("goal", 1e3, Limits(0.05), Instant(0.0, 0.0), None).verdict(
            Instant(0.0, 0.0), health, cancel=False, estopped=False
        )
        tells.append(verdict and verdict.check)
        go_on.release()
    assert tells == [None, "policy_error"]
    assert runner.close(60.0)


def test_the_first_chunk_after_a_fault_has_the_deadline_of_a_first_one(skill):
    server = Direct(features())
    policy = LeRobotPolicy(skill().manifest, server)
    policy.predict(BATCH)
    answer = server.handlers["predict"]

    def lost(data):
        raise SidecarTimeout("no answer")

    server.handlers["predict"] = lost
    with pytest.raises(PolicyError, match="no answer"):
        policy.predict(BATCH)
    server.handlers["predict"] = answer
    policy.predict(BATCH)
    first, warm, after_a_fault = server.limits_s
    assert after_a_fault == first > warm


def test_chunks_travel_over_the_wire(skill, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(Path(__file__).parent)])
    client = None
    try:
        while not (found := [server for server in announcements() if server.pid == process.pid]):
            assert process.poll() is None, "the server ended"
            time.sleep(0.05)
        client = SidecarClient(found[0].endpoint)
        policy = LeRobotPolicy(skill().manifest, Remote(client))
        np.testing.assert_array_equal(policy.predict(BATCH)[1, 3], BATCH.state[1] + 3)
        odd = PolicyBatch({CAMERA: BATCH.images[CAMERA][:1]}, BATCH.state, BATCH.instructions)
        with pytest.raises(PolicyError, match=r"rskill-fake-arm.*bad_request.*takes uint8 \(2, 32, 32, 3\)"):
            policy.predict(odd)
    finally:
        if client is not None:
            client.close()
        process.terminate()
        process.wait(60)


def test_a_server_that_breaks_its_promise_is_refused(skill):
    server = Direct(features())
    policy = LeRobotPolicy(skill().manifest, server)
    server.handlers["predict"] = lambda data: {"chunk": np.zeros((2, ROWS, 3), np.float32)}
    with pytest.raises(PolicyError, match=r"answered \(2, 20, 3\), it promised \(2, 20, 4\)"):
        policy.predict(BATCH)


@pytest.mark.parametrize(
    ("changes", "policy", "said"),
    [
        ({}, {"action": 7}, "gives 7 numbers; write dim: 7"),
        ({}, {"state": 8}, "state_contract.dim is 4, the policy takes 8"),
        ({}, {"rows": 8}, "chunk_size is 16, the policy gives 8 actions; write at most 8"),
        ({}, {"images": {"observation.image": (3, 32, 32)}}, "(it looks through observation.image); alias"),
        (
            {},
            {"images": {CAMERA: (3, 32, 32), "wrist": (3, 32, 32)}},
            "looks through wrist, which sensors_required",
        ),
        ({}, {"any_size": False}, "write image_size: [32, 32]"),
        ({}, {"n_obs_steps": 2}, "2 consecutive control steps; write history: [-1, 0]"),
        ({}, {"n_obs_steps": 2}, "state_contract.history does not fit a policy of 2 instant(s); write true"),
        ({"image_preprocessing": {"history": [-1, 0]}}, {}, "1 consecutive control steps; remove history"),
        ({}, {"other": ("observation.environment_state",)}, "which no robot sends"),
    ],
)
def test_faults_name_both_sides_and_the_fix(skill, changes, policy, said):
    manifest = skill(changes).manifest
    assert said in "; ".join(feature_faults(manifest, features(**policy)))
    with pytest.raises(PolicyError, match="rskill-fake-arm does not fit its checkpoint"):
        LeRobotPolicy(manifest, Direct(features(**policy)))


def test_what_fits_has_no_fault(skill):
    assert feature_faults(skill().manifest, features()) == []
    aliased = {"image_preprocessing": {"aliases": {CAMERA: "observation.image"}, "image_size": [64, 64]}}
    policy = features(images={"observation.image": (3, 64, 64)}, any_size=False)
    assert feature_faults(skill(aliased).manifest, policy) == []
    back = {"image_preprocessing": {"history": [-1, 0]}, "state_contract": {"dim": 4, "history": True}}
    assert feature_faults(skill(back).manifest, features(n_obs_steps=2)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"model_family": "act"},
            "model_family is act, the checkpoint's type is smolvla; write model_family: smolvla",
        ),
        ({"policy_extras": {"sead": 1}}, "policy_extras: sead: only seed and absent_cameras are read"),
        ({"policy_extras": {"absent_cameras": "wrist"}}, "absent_cameras is no list"),
        ({"policy_extras": {"seed": "x"}}, "seed is no whole number"),
        ({"quantization": {"dtype": "int4"}}, "dtype int4; LeRobot runs in fp32, bf16 or fp16"),
        (
            {"processors": {**PROCESSORS, "preprocessor_uri": "local://before.json"}},
            "names local://before.json",
        ),
        (
            {"processors": {**PROCESSORS, "preprocessor_uri": "hf://a/b/policy_preprocessor.json"}},
            "names hf://a/b/policy_preprocessor.json; LeRobot reads the policy_preprocessor.json beside the weights",
        ),
        (
            {"processors": {**PROCESSORS, "postprocessor_uri": "local://new/policy_postprocessor.json"}},
            "names local://new/policy_postprocessor.json; LeRobot reads",
        ),
    ],
)
def test_files_are_compared_before_anything_is_started(skill, changes, said):
    package = skill(changes)
    write_checkpoint(package.folder)
    with pytest.raises(PolicyError, match=said):
        load_policy(package)


@pytest.mark.parametrize(
    ("weights", "folder"),
    [
        ("local://model.safetensors", "local:/"),
        ("local://./model.safetensors", "local:/"),
        ("local://checkpoint", "local://checkpoint"),
        ("local://checkpoint/model.safetensors", "local://checkpoint/."),
        ("hf://Me/act.v2.json@main", "hf://me/act.v2.json"),
    ],
)
def test_processors_beside_the_weights_are_in_order(skill, tmp_path, weights, folder):
    named = zip(("preprocessor_uri", "postprocessor_uri"), PROCESSORS.values(), strict=True)
    uris = {key: f"{folder}/{uri.removeprefix('local://')}" for key, uri in named}
    manifest = skill({"weights_uri": weights, "processors": uris}).manifest
    assert checkpoint_faults(manifest, read_checkpoint(write_checkpoint(tmp_path / "c"))) == []


def test_all_families_of_lerobot_are_in_the_table():
    lerobot = {name for name, target in BUILT_IN.items() if ".lerobot." in target}
    assert lerobot == {"smolvla", "act", "diffusion", "pi0", "pi05", "xvla"}


@pytest.mark.parametrize("name", ["lerobot", "lerobot_pi"])
def test_torch_is_asked_for_by_its_version_alone(name):
    spec = sidecar_spec(name)
    assert "torch==2.13.0" in spec.steps[0].requirements
    assert spec == spec_for({"lerobot": "act", "lerobot_pi": "pi05"}[name])
