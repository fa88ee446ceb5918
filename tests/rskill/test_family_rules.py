"""What a family's manifests must have, and how other distributions add to it; names of images."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint

import pytest
from pydantic import ValidationError

from openral_core.manifest import ImagePreprocessing, RSkillManifest, family_rules
from openral_core.manifest.family_rules import FamilyRule, family_rule, known_families, server_elsewhere
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_rskill.compatibility import match, package_findings
from openral_rskill.registry import load_package

Make = Callable[..., RSkillManifest]
RULE = FamilyRule(needs=("starting_pose",), cameras=2)
NOT_A_RULE = "something else"
TWO = [{"modality": "rgb", "vla_feature_key": f"observation.images.{name}"} for name in ("front", "wrist")]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    family_rule.cache_clear()
    yield
    family_rule.cache_clear()


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three families of other distributions: a good one and two broken ones."""
    targets = {
        "toy": f"{__name__}:RULE",
        "odd": f"{__name__}:NOT_A_RULE",
        "gone": "no_such_module_anywhere:RULE",
    }
    found = {name: [EntryPoint(name, value, family_rules.GROUP)] for name, value in targets.items()}
    monkeypatch.setattr(family_rules, "entry_points", lambda group, name: found.get(name, []))


@pytest.mark.usefixtures("plugged")
def test_a_distribution_adds_the_rule_of_its_family(manifest: Make) -> None:
    with pytest.raises(
        ValidationError, match="starting_pose: is missing for family toy, add it; sensors_required: has 1"
    ):
        manifest(model_family="toy")
    manifest(model_family="toy", starting_pose={"j": 0.0}, sensors_required=TWO)


@pytest.mark.usefixtures("plugged")
def test_a_broken_rule_is_named_and_left_out(manifest: Make, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for family in ("odd", "gone", "nobodys"):
            manifest(model_family=family)
    assert "family odd" in caplog.text
    assert "family gone (no_such_module_anywhere:RULE) cannot be loaded" in caplog.text


def test_rldx_needs_its_history_and_two_cameras(manifest: Make) -> None:
    with pytest.raises(
        ValidationError, match=r"image_preprocessing\.history: is missing for family rldx"
    ) as caught:
        manifest(model_family="rldx")
    assert "family rldx takes 2" in str(caught.value)
    manifest(
        model_family="rldx",
        sensors_required=TWO,
        image_preprocessing={"history": [-2, 0], "image_size": [8, 8]},
    )


def test_a_server_elsewhere_holds_the_weights(
    manifest: Make, skill_folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENRAL_RLDX_AUTO_SPAWN", "0")
    assert server_elsewhere("rldx") == "OPENRAL_RLDX_AUTO_SPAWN=0"
    assert server_elsewhere("rldx", {"OPENRAL_RLDX_AUTO_SPAWN": "1"}) is None
    assert server_elsewhere("mini") is None
    skill = manifest(
        model_family="rldx",
        sensors_required=TWO,
        image_preprocessing={"history": [-2, 0], "image_size": [8, 8]},
        weights_uri="hf://o/far",
    )
    rows = {row.gate: row for row in package_findings(skill, folder=load_package(skill_folder).folder)}
    assert rows["weights"].ok


def test_in_lockstep_the_world_waits(manifest: Make, robot: RobotDescription, scene: DeployScene) -> None:
    slow = manifest(latency_budget={"per_chunk_ms": 5000})
    rows = {lockstep: match(slow, robot, scene, lockstep=lockstep) for lockstep in (True, False)}
    failing = {lockstep: [row.gate for row in found if not row.ok] for lockstep, found in rows.items()}
    assert failing == {True: [], False: ["latency"]}


def test_the_chosen_task_counts(manifest: Make, robot: RobotDescription, scene: DeployScene) -> None:
    skill = manifest(evaluated_tasks=["metaworld/drawer-open-v3"])
    for task, ok in (("", True), ("drawer-open-v3", True), ("metaworld/drawer-close-v3", False)):
        assert match(skill, robot, scene, task=task)[-1].ok is ok


@pytest.mark.parametrize(
    ("aliases", "name"),
    [
        ({}, "observation.images.top"),
        ({"observation.images.top": "observation.images.image"}, "observation.images.image"),
        ({"top": "image"}, "cams/image"),
        ({"observation.images.top": "image2"}, "cams/image2"),
        ({"wrist": "image"}, "observation.images.top"),
    ],
)
def test_names_of_images(aliases: dict[str, str], name: str) -> None:
    preprocessing = ImagePreprocessing(aliases=aliases, input_template="cams/{cam}")
    assert preprocessing.input_name("observation.images.top") == name


def test_a_template_has_a_place_for_the_name() -> None:
    with pytest.raises(ValidationError, match=r"write observation\.images\.\{cam\}"):
        ImagePreprocessing(input_template="image")


def test_every_family_that_openral_runs_is_known() -> None:
    from openral_policy_nodes.families import factory
    from openral_reward_monitor.models import reward_model

    assert {*factory.BUILT_IN, *reward_model.BUILT_IN} <= {*known_families()}
