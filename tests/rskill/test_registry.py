"""Skills are found by every sort of reference, and their weights are safetensors inside their folder."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
from example_skill import MANIFEST, write_safetensors

from openral_core.errors import LicenseError, ManifestError, NotFoundError, WeightsError
from openral_core.manifest import RSkillManifest
from openral_rskill.license import check_license, is_evaluated
from openral_rskill.registry import list_skills, load_package, resolve
from openral_rskill.store.repo_id import HubReference


@pytest.mark.parametrize(
    "ref",
    ["example", "rskill://rskills/example", "openral/rskill-example", "{folder}", "{folder}/rskill.yaml"],
)
def test_every_sort_of_reference_finds_the_skill(skill_folder: Path, ref: str) -> None:
    package = resolve(ref.format(folder=skill_folder), [skill_folder.parent])
    assert package.manifest.name == "openral/rskill-example"
    assert package.weights_path() == skill_folder.resolve() / "model.safetensors"
    assert package.slug == "example"


@pytest.mark.parametrize(
    "ref",
    [
        "nothing",
        "rskill://rskills/../example",
        "rskill://elsewhere/example",
        "rskill://",
        "https://x/y",
        "hf://a/b",
        "",
        "..",
        "x" * 5000,
        "a\0b",
    ],
)
def test_what_cannot_be_found_is_refused(skill_folder: Path, ref: str) -> None:
    with pytest.raises(NotFoundError):
        resolve(ref, [skill_folder.parent])


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("a/rskill-mini-metaworld", "mini_metaworld"),
        ("a/3D.Actor--x", "skill_3d_actor_x"),
        ("a/rskill-_", "skill"),
    ],
)
def test_slug_is_a_ros_name(skill_folder: Path, name: str, slug: str) -> None:
    file = skill_folder / "rskill.yaml"
    file.write_text(MANIFEST.replace("openral/rskill-example", name))
    assert load_package(file).slug == slug


def test_a_broken_neighbour_is_named_and_left_out(
    skill_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = skill_folder.parent / "broken"
    broken.mkdir()
    (broken / "rskill.yaml").write_text("name: [")
    with caplog.at_level(logging.WARNING):
        names = [package.manifest.name for package in list_skills([skill_folder.parent])]
    assert "openral/rskill-example" in names
    assert "broken/rskill.yaml" in caplog.text
    with pytest.raises(ManifestError):
        resolve("broken", [skill_folder.parent])


def test_weights_must_be_whole_safetensors(skill_folder: Path) -> None:
    package = load_package(skill_folder)
    weights = skill_folder / "model.safetensors"
    write_safetensors(weights, cut=3)
    with pytest.raises(WeightsError, match="lacks 3 bytes"):
        package.weights_path()
    for content in (
        b"",
        b"\xff" * 64,
        (2).to_bytes(8, "little") + b"[]",
        (1 << 40).to_bytes(8, "little"),
    ):
        weights.write_bytes(content)
        with pytest.raises(WeightsError, match="safetensors"):
            package.weights_path()
    weights.unlink()
    with pytest.raises(NotFoundError, match="is not there"):
        package.weights_path()
    outside = skill_folder.parent / "outside.safetensors"
    write_safetensors(outside)
    weights.symlink_to(outside)
    with pytest.raises(ManifestError, match="leaves the folder"):
        package.weights_path()


def test_weights_may_be_a_folder(skill_folder: Path) -> None:
    file, checkpoint = skill_folder / "rskill.yaml", skill_folder / "checkpoint"
    file.write_text(MANIFEST.replace("local://model.safetensors", "local://checkpoint"))
    package = load_package(skill_folder)
    with pytest.raises(NotFoundError, match="checkpoint is not there"):
        package.checkpoint()
    checkpoint.mkdir()
    with pytest.raises(WeightsError, match="no safetensors file"):
        package.checkpoint()
    write_safetensors(checkpoint / "model.safetensors")
    assert package.checkpoint() == checkpoint.resolve()
    assert package.weights_path() == checkpoint.resolve() / "model.safetensors"
    (checkpoint / "model.safetensors.index.json").write_text('{"weight_map": {"w": "other.safetensors"}}')
    with pytest.raises(WeightsError, match=r"other\.safetensors, named by .* is not there"):
        package.checkpoint()


def test_weights_beside_those_that_a_loader_takes_are_refused(skill_folder: Path) -> None:
    """Every loader of a checkpoint's folder takes `model.safetensors`: the manifest's own would not be what moves."""
    write_safetensors(skill_folder / "better.safetensors", count=3)
    (skill_folder / "rskill.yaml").write_text(MANIFEST.replace("model.safetensors", "better.safetensors"))
    package = load_package(skill_folder)
    for read in (package.weights_path, package.checkpoint):
        with pytest.raises(WeightsError, match=r"weights_uri: .*better\.safetensors.* move one of them away"):
            read()
    (skill_folder / "model.safetensors").unlink()
    assert package.weights_path().name == "better.safetensors"


@pytest.mark.parametrize(
    ("uri", "ok"),
    [
        ("hf://me/_model@_dev", True),
        ("hf://_me/m.o-d_el", True),
        ("hf://me/-model", False),
        ("hf://me/.model", False),
        ("hf://me/model@-dev", False),
    ],
)
def test_a_manifest_names_the_repositories_that_a_hub_can_have(
    skill_folder: Path, uri: str, ok: bool
) -> None:
    (skill_folder / "rskill.yaml").write_text(MANIFEST.replace("local://model.safetensors", uri))
    if not ok:
        with pytest.raises(ManifestError, match=r"rskill\.yaml:\d+: weights_uri"):
            load_package(skill_folder)
        return
    with pytest.raises(NotFoundError, match="are not on this machine"):
        load_package(skill_folder).checkpoint()
    assert str(HubReference.parse(uri)).startswith(uri)


def test_weights_on_a_hub_must_be_installed(skill_folder: Path) -> None:
    file = skill_folder / "rskill.yaml"
    file.write_text(MANIFEST.replace("local://model.safetensors", "hf://owner/model@abc"))
    for read in (load_package(skill_folder).weights_path, load_package(skill_folder).checkpoint):
        with pytest.raises(NotFoundError, match=rf"openral rskill install {skill_folder}$"):
            read()


def skill_with(folder: Path, license_: str) -> RSkillManifest:
    (folder / "rskill.yaml").write_text(MANIFEST.replace("apache-2.0", license_))
    return load_package(folder).manifest


@pytest.mark.parametrize("license_", ["apache-2.0", "mit", "bsd", "nvidia_open_model"])
def test_commercial_licences_pass(skill_folder: Path, license_: str) -> None:
    manifest = skill_with(skill_folder, license_)
    assert manifest.is_commercial_use_allowed
    check_license(manifest, environment={})
    check_license(manifest, accept_noncommercial=False)


@pytest.mark.parametrize(
    "license_",
    ["permissive_research", "nvidia_non_commercial", "rlwrld_non_commercial", "proprietary", "unknown"],
)
def test_other_licences_need_acceptance(skill_folder: Path, license_: str) -> None:
    manifest = skill_with(skill_folder, license_)
    assert not manifest.is_commercial_use_allowed
    for environment in ({}, {"OPENRAL_ACCEPT_NONCOMMERCIAL": "0"}, {"OPENRAL_ACCEPT_NONCOMMERCIAL": "true"}):
        with pytest.raises(LicenseError, match=rf"'{license_}'.*set OPENRAL_ACCEPT_NONCOMMERCIAL=1"):
            check_license(manifest, environment=environment)
    check_license(manifest, environment={"OPENRAL_ACCEPT_NONCOMMERCIAL": "1"})
    check_license(manifest, accept_noncommercial=True, environment={})
    with pytest.raises(LicenseError):
        check_license(manifest, accept_noncommercial=False, environment={"OPENRAL_ACCEPT_NONCOMMERCIAL": "1"})


def test_a_licence_is_unknown_until_it_is_stated(skill_folder: Path) -> None:
    (skill_folder / "rskill.yaml").write_text(MANIFEST.replace("license: apache-2.0\n", ""))
    with pytest.raises(LicenseError, match="'unknown'"):
        check_license(load_package(skill_folder).manifest, environment=dict.fromkeys(os.environ, ""))


@pytest.mark.parametrize(
    ("entries", "task", "scene", "ok"),
    [
        (["metaworld"], "metaworld/drawer-open-v3", "x", True),
        (["metaworld/drawer-open-v3"], "metaworld/drawer-open-v3", "x", True),
        (["metaworld/drawer"], "metaworld/drawer-open-v3", "x", False),
        (["meta"], "metaworld/drawer-open-v3", "x", False),
        (["libero_10"], "metaworld/drawer-open-v3", "libero_10", True),
        (["libero_10"], "metaworld/drawer-open-v3", "metaworld", False),
        ([], "anything", "x", True),
    ],
)
def test_evaluated_tasks_gate(entries: list[str], task: str, scene: str, ok: bool) -> None:
    assert is_evaluated(entries, task, scene) is ok


@pytest.mark.parametrize("path", ["/nope", "./nope", "../nope", "~/nope", "nope/"])
def test_a_path_is_not_looked_for_on_the_hub(path: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        resolve(path)
    assert "was not found" in str(caught.value)
    assert "openral rskill install" not in str(caught.value)
    if not path.endswith("/"):
        assert f"no rskill.yaml in {os.path.abspath(path)}; give a folder with one" in str(caught.value)
