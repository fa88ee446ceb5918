"""The policy against conformance servers in processes of their own: found, started, compared, asked, lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import psutil
import pytest
from rldx_helpers import MODULE, Started, free_port, make_batch, wait_for

from openral_core.errors import LicenseError, PolicyError
from openral_policy_nodes.families.rldx.policy import RldxPolicy, load_with
from openral_policy_nodes.families.rldx.spec import SPEC
from openral_rskill.registry import RSkillPackage
from openral_sidecar.server_announcement import announcements

CONFORMANCE = replace(SPEC, module=MODULE)
Open = Callable[..., RldxPolicy]


@pytest.fixture
def opened(package, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Load the policy of a skill; the server is at `port`, or started if there is none."""
    policies: list[RldxPolicy] = []

    def load(port: int = 0, *, skill: RSkillPackage | None = None, **environment: str) -> RldxPolicy:
        for name, value in {"PORT": str(port), **environment}.items():
            monkeypatch.setenv(f"OPENRAL_RLDX_{name}", value)
        policies.append(load_with(CONFORMANCE, skill or package(), "cpu"))
        return policies[-1]

    yield load
    for policy in policies:
        policy.close()


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it may end between two looks at it
        return False


def test_a_server_is_started_used_and_ended(opened: Open) -> None:
    policy = opened()
    [server] = announcements()
    assert (server.spec, server.identity.quantization, server.identity.tag) == (
        "rldx",
        "nf4",
        "GENERAL_EMBODIMENT",
    )
    policy.reset(["one"])
    chunks = policy.predict(make_batch("one"))
    assert (chunks.shape, chunks.dtype) == ((1, 16, 7), np.float32)
    assert set(np.unique(chunks[..., 6])) <= {-1.0, 1.0}
    assert np.abs(chunks[..., :6]).max() <= 1.0
    policy.close()
    wait_for(lambda: not is_running(server.pid), "the end of the server")


def test_the_answer_depends_on_words_frames_and_memory_and_reset_forgets(opened: Open) -> None:
    policy = opened()
    batch = make_batch("one")

    def ask(changed: Any = batch) -> np.ndarray:
        policy.reset(["one"])
        return policy.predict(changed)

    first = ask()
    assert not np.array_equal(policy.predict(batch), first)  # the server remembers
    np.testing.assert_array_equal(ask(), first)
    assert not np.array_equal(ask(replace(batch, instructions=["close the drawer"])), first)
    turned = {name: video[:, :, ::-1, ::-1] for name, video in batch.images.items()}
    assert not np.array_equal(ask(replace(batch, images=turned)), first)
    older = {name: np.concatenate([video[:, 1:2], video[:, 1:]], 1) for name, video in batch.images.items()}
    assert not np.array_equal(ask(replace(batch, images=older)), first)


def test_a_batch_is_its_rows(opened: Open) -> None:
    policy = opened()
    both = make_batch("one", "two")
    policy.reset(["one", "two"])
    together = policy.predict(both)
    for row, name in enumerate(("one", "two")):
        policy.reset([name])
        images = {key: video[row : row + 1] for key, video in both.images.items()}
        alone = policy.predict(
            replace(
                both,
                images=images,
                state=both.state[row : row + 1],
                instructions=both.instructions[:1],
                episodes=[name],
            )
        )
        np.testing.assert_allclose(together[row], alone[0], atol=1e-6)


def test_a_running_server_is_used_and_left(start, opened: Open) -> None:
    server: Started = start()
    policy = opened(server.port, AUTO_SPAWN="0")
    policy.reset(["one"])
    policy.predict(make_batch("one", words="open the drawer"))
    policy.predict(make_batch("one", words="close it"))
    policy.close()
    assert server.process.poll() is None
    assert [row["sentences"] for row in server.rows("get_action")] == [["open the drawer"], ["close it"]]
    assert [row["sessions"] for row in server.rows("reset")] == [["one"], ["one"]]
    again = opened(server.port)  # with auto-spawn, too
    again.reset(["two"])
    assert server.rows("reset")[-1]["sessions"] == ["two"]
    assert len(list(announcements())) == 1


def test_episodes_that_are_over_are_forgotten(start, opened: Open) -> None:
    server: Started = start()
    policy = opened(server.port)
    for goal in ("one", "two", "three", "four"):
        policy.reset([goal])
        policy.predict(make_batch(goal))
    assert [row["sessions"] for row in server.rows("reset")] == [
        ["one"],
        ["two"],
        ["three", "one"],
        ["four", "two"],
    ]


def test_without_a_server_and_without_leave_to_start_one(opened: Open) -> None:
    with pytest.raises(PolicyError, match="none may be started"):
        opened(free_port(), AUTO_SPAWN="0")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ["--history", "0"],
            r"looks at control steps \[0\], the manifest at \[-6, -4, -2, 0\]; write image_pre",
        ),
        (["--history", "-4", "-2", "0"], r"write image_preprocessing.history: \[-4, -2, 0\]"),
    ],
)
def test_another_modality_is_refused_at_the_handshake(
    start, opened: Open, words: list[str], text: str
) -> None:
    server: Started = start(*words)
    with pytest.raises(PolicyError, match=text):
        opened(server.port)
    assert server.rows("get_action") == []


def test_another_chunk_size_is_refused_at_the_handshake(start, package, opened: Open) -> None:
    skill = package(chunk_size=8, n_action_steps=8)
    with pytest.raises(PolicyError, match="the checkpoint gives 16 steps; write chunk_size: 16"):
        opened(start().port, skill=skill)


def test_another_model_or_quantisation_is_refused(start, opened: Open) -> None:
    for words, model in (([], "RLWRLD/RLDX-1-FT-SIMPLER"), (["--embodiment-tag", "LIBERO_PANDA"], None)):
        server: Started = start(*words, **({"model": model} if model else {}))
        with pytest.raises(PolicyError, match=f"serves .*{model or 'LIBERO_PANDA'}"):
            opened(server.port)


def test_a_server_with_another_token_is_refused(start, opened: Open, tmp_path) -> None:
    (tmp_path / "token").write_text("secret")
    server: Started = start("--token-file", str(tmp_path / "token"))
    with pytest.raises(PolicyError, match="Invalid API token"):
        opened(server.port, TOKEN="guess")
    opened(server.port, TOKEN="secret").predict(make_batch("one"))


def test_refused_terms_come_before_everything(package, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENRAL_ACCEPT_NONCOMMERCIAL")
    with pytest.raises(LicenseError, match="OPENRAL_ACCEPT_NONCOMMERCIAL=1"):
        opened()
    assert list(announcements()) == []


def test_a_killed_server_fails_the_call_and_is_replaced(opened: Open) -> None:
    policy = opened()
    policy.predict(make_batch("one"))
    [first] = announcements()
    os.kill(first.pid, signal.SIGKILL)

    def answer() -> np.ndarray | None:
        try:
            return policy.predict(make_batch("one"))
        except PolicyError:
            return None

    assert wait_for(lambda: answer() is not None, "an answer of the next server")
    [second] = announcements()
    assert second.pid != first.pid


def test_a_hanging_server_costs_one_deadline_and_is_replaced(package, opened: Open) -> None:
    policy = opened(skill=package(latency_budget={"per_chunk_ms": 100}))
    for _ in range(2):  # the first answer teaches nothing about those that follow
        policy.predict(make_batch("one"))
    [first] = announcements()
    os.kill(first.pid, signal.SIGSTOP)
    with pytest.raises(PolicyError, match="no answer within"):
        policy.predict(make_batch("one"))
    wait_for(lambda: not is_running(first.pid), "the end of the hanging server")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("PORT", "many", "PORT is 'many'; write a port"),
        ("PORT", "70000", "PORT is '70000'"),
        ("AUTO_SPAWN", "yes", "AUTO_SPAWN is 'yes'; write 1"),
    ],
)
def test_malformed_variables_are_refused(opened: Open, name: str, value: str, text: str) -> None:
    with pytest.raises(PolicyError, match=text):
        opened(**{name: value})


def test_what_the_family_cannot_serve_is_refused(package, opened: Open) -> None:
    with pytest.raises(
        PolicyError, match=r"quantization\.dtype int8 cannot be served; write one of int4, bf16"
    ):
        opened(skill=package(quantization={"dtype": "int8", "backend": "pytorch"}))
    with pytest.raises(
        PolicyError, match="policy_extras: Extra inputs are not permitted; known is embodiment_tag"
    ):
        opened(skill=package(policy_extras={"speed": 2}))
