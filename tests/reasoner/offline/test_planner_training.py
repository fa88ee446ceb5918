"""`openral train planner`, a few steps of it, and what comes of missing weights."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

from openral_core.errors import InstallationError, ManifestError, WeightsError
from openral_reasoner.evaluation.suite import DEFAULT, load_suite
from openral_reasoner.offline import OfflinePlanner
from openral_reasoner.offline.clause_matcher import LearnedMatcher
from openral_reasoner.planner import Proposal
from openral_training.commands import app
from openral_training.planner.deployments import Lexicon, make_deployment, nouns_of
from openral_training.planner.inflection import gerund, participle
from openral_training.planner.labelled_utterance import ORDER
from openral_training.planner.speaker import Speaker
from openral_training.planner.train import PlannerConfig
from openral_training.planner.train import train as learn


@pytest.mark.long
def test_a_tiny_training_writes_weights_that_the_planner_takes(tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text("skills: [{name: a/rskill-b, objects: [drawer]}]\n")
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["planner", "--out", str(out), "--steps", "2", "--without", str(suite)])
    assert result.exit_code == 0, result.output
    report = json.loads((out / "planner_eval.json").read_text())
    assert report["without_nouns"] == 1
    assert report["held_out_objects"]["acts"]["n"] > 100
    matcher = LearnedMatcher(out / "planner.safetensors")
    assert matcher.scores("open the door", ["open the door", "close the door"]).shape == (2,)
    answer: Proposal = OfflinePlanner(matcher).plan("open the drawer for me", load_suite(DEFAULT).palette)
    assert answer is not None


@pytest.mark.long
def test_a_stopped_training_ends_where_an_unbroken_one_ends(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(step: int, loss: float) -> None:
        if step == 3:
            raise Stopped

    config = PlannerConfig(steps=4, deployments=1, utterances=4, save_every=2)
    learn(tmp_path / "one", config)
    with pytest.raises(Stopped):
        learn(tmp_path / "other", config, progress=stop)
    steps: list[int] = []
    learn(tmp_path / "other", config, progress=lambda step, loss: steps.append(step))
    assert steps == [3, 4]
    one, other = (load_file(tmp_path / name / "planner.safetensors") for name in ("one", "other"))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == [
        "planner.safetensors",
        "planner_eval.json",
    ]


@pytest.mark.parametrize(
    "content", [None, "foreign", *(pytest.param(text, marks=pytest.mark.slow) for text in ("", "{}"))]
)
def test_weights_of_something_else_are_no_warm_start(tmp_path: Path, content: str | None) -> None:
    import torch
    from safetensors.torch import save_file

    start = tmp_path / "start.safetensors"
    if content == "foreign":
        save_file({"a": torch.zeros(2)}, start)
    elif content is not None:
        start.write_text(content)
    words = ["planner", "--out", str(tmp_path / "out"), "--steps", "1", "--warm-start", str(start)]
    error = CliRunner().invoke(app, words).exception
    assert isinstance(error, WeightsError)
    assert str(error).startswith(f"--warm-start {start}: ")
    assert str(error).endswith("name the planner.safetensors of an earlier training")


def test_numpy_computes_what_torch_computes() -> None:
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    from openral_core.sentence_encoder import default_model_folder
    from openral_reasoner.offline.clause_matcher import WEIGHTS
    from openral_training.planner.network import Matcher
    from openral_training.planner.train import _encode

    model = Matcher(default_model_folder())
    weights = {name: value.float() for name, value in load_file(WEIGHTS).items()}
    assert not model.load_state_dict(weights, strict=False).unexpected_keys
    tokenizer = Tokenizer.from_file(str(default_model_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    with torch.no_grad():
        one, one_mask = _encode(model, tokenizer, ["could you close the drawer please"])
        other, other_mask = _encode(model, tokenizer, ["close the drawer"])
        logit = float(model.matches(one, one_mask, other, other_mask)[0, 0])
        acts = model.acts(one, one_mask).softmax(1)[0].numpy()
    ours = LearnedMatcher()
    assert (
        ours.encoder.states("close the drawer").dtype == np.float32
    )  # double precision takes twice the time
    score = float(ours.scores("could you close the drawer please", ["close the drawer"])[0])
    assert score == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-3)
    assert ours.act("could you close the drawer please").order == pytest.approx(float(acts[ORDER]), abs=1e-3)


def test_missing_or_broken_weights_are_one_line(tmp_path: Path) -> None:
    for name, content in (("none.safetensors", None), ("broken.safetensors", b"x" * 40)):
        path = tmp_path / name
        if content:
            path.write_bytes(content)
        with pytest.raises(InstallationError, match="openral train planner") as raised:
            LearnedMatcher(path)
        assert "\n" not in str(raised.value)


def test_nouns_are_kept_out_of_training(tmp_path: Path) -> None:
    plain = tmp_path / "nouns.txt"
    plain.write_text("drawer\ncup\n")
    nouns = nouns_of(plain)
    assert nouns == {"drawer", "cup"}
    lexicon = Lexicon(nouns)
    names = {name for things in lexicon.things.values() for thing in things for name in thing.names}
    assert not any(name.split()[-1] in nouns for name in names)
    with pytest.raises(ManifestError):
        nouns_of(tmp_path / "missing.txt")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", b"scenes: [metaworld_mini]"),
        ("a.yaml", b"skills: [lift]"),
        ("a.yaml", b"skills: {"),
        ("a.txt", b"\xff\xfe"),
    ],
)
def test_what_names_no_nouns_is_refused_in_one_line(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ManifestError, match=rf"{name}: is no suite of missions and no list of nouns") as told:
        nouns_of(tmp_path / name)
    assert "\n" not in str(told.value)


def test_the_generator_is_deterministic_and_labels_one_task() -> None:
    def said(seed: int) -> list[tuple[str, int, tuple[float, ...]]]:
        rng = random.Random(seed)
        lexicon = Lexicon()
        found = []
        for _ in range(20):
            tasks = make_deployment(rng, lexicon)
            speaker = Speaker(rng, lexicon, tasks)
            utterances = [speaker.utterance() for _ in range(10)]
            assert all(len(u.labels) == len(tasks) for u in utterances)
            assert all(not any(label == 1.0 for label in u.labels) for u in utterances if u.act != ORDER)
            for u in utterances:
                ordered = [part for label, part in zip(u.labels, u.parts, strict=False) if label == 1.0]
                assert all(action == 1.0 and thing != 0.0 for action, thing in ordered), u.text
            found += [(u.text, u.act, u.labels) for u in utterances]
        return found

    assert said(3) == said(3)
    assert said(3) != said(4)


def test_actions_name_each_other() -> None:
    lexicon = Lexicon()
    for action in lexicon.actions.values():
        assert {action.opposite, *action.near} <= {"", *lexicon.actions}, action.name
        assert all("{o}" in say and (action.to or "{d}" not in say) for say in action.say), action.name


def test_inflections() -> None:
    assert [gerund(verb) for verb in ("close", "put", "tie", "open", "grab")] == [
        "closing",
        "putting",
        "tying",
        "opening",
        "grabbing",
    ]
    assert [participle(verb) for verb in ("close", "put", "tie", "open", "take")] == [
        "closed",
        "put",
        "tied",
        "opened",
        "taken",
    ]
