"""Pictures whose labels agree with the simulator, and a network that learns from them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from openral_core.errors import ContractError, ManifestError, NotFoundError, OutputError
from openral_core.schema import InitRange
from openral_perception.detectors.mini.model import load_folder
from openral_rskill.mini.checkpoint import MADE_OF, read_metadata
from openral_training.checkpoint import refuse_trained_states
from openral_training.commands import app as train_app
from openral_training.detector.domain_randomization import Looks
from openral_training.detector.evaluate import measures
from openral_training.detector.pictures import draw_all, take
from openral_training.detector.recipe import DetectorRecipe, DetectorWorld, load_detector_recipe
from openral_training.detector.train import DetectorTraining, train
from openral_training.detector.world import SeenWorld
from openral_training.detector_commands import app
from openral_training.training_recipe import load_recipe, recipe_file

RECIPE = load_detector_recipe("mini_detector")
PICTURES, STEPS = 10, 6


@pytest.fixture(scope="module")
def small() -> DetectorRecipe:
    """The shipped recipe with the tabletop alone, at half the size."""
    tabletop = next(world for world in RECIPE.worlds if world.scene == "tabletop_panda")
    return RECIPE.model_copy(update={"worlds": (tabletop,), "image_size": 64})


@pytest.fixture(scope="module")
def pictures(small: DetectorRecipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "pictures.npz"
    draw_all(small, PICTURES, path, 0, lambda count: None)
    return path


def test_a_label_lies_on_the_thing_that_it_names(small: DetectorRecipe) -> None:
    rng = np.random.default_rng(3)
    with closing(SeenWorld(small.worlds[0])) as world:
        looks = Looks(world.backend.renderer)
        world.begin(5, rng, 0.03)
        plain = take(world, looks, small.labels, None)
        taken = [plain, *(take(world, looks, small.labels, rng) for _ in range(4))]
        again = take(world, looks, small.labels, None)
    np.testing.assert_array_equal(again.image, plain.image)
    assert sum(len(one.things) for one in taken) >= 5
    for one in taken:
        for thing in one.things:
            depth = float(one.depth[int(thing.v), int(thing.u)])
            surface = one.camera.unproject(thing.u, thing.v, depth)
            ray = (surface - one.camera.position) / np.linalg.norm(surface - one.camera.position)
            assert np.linalg.norm(surface + thing.inward_m * ray - thing.position) < 0.03
    assert any(not np.array_equal(one.image, plain.image) for one in taken[1:])


def test_a_label_may_have_several_things_and_a_place_beside_its_body(small: DetectorRecipe) -> None:
    plan = DetectorWorld.model_validate(
        {
            **small.worlds[0].model_dump(),
            "things": {
                "cube": [{"geoms": ["cube"], "at": "cube"}, {"geoms": ["handle"], "at": "handle"}],
                "tray": {"bodies": ["tray"], "at": "tray", "offset": [0.0, 0.01, 0.02]},
            },
            "top_m": 0.3,
        }
    )
    with closing(SeenWorld(plan)) as world:
        cube, handle, tray = world.places()
        assert (cube.label, handle.label, tray.label) == ("cube", "cube", "tray")
        np.testing.assert_allclose(handle.position, world.data.geom("handle").xpos)
        np.testing.assert_allclose(tray.position, world.data.body("tray").xpos + np.array([0.0, 0.01, 0.02]))
        looks, rng = Looks(world.backend.renderer), np.random.default_rng(0)
        painted = [looks.shuffle(plan, world.places(), small.labels, rng) for _ in range(20)]
        assert all(shape.position[2] > 0.3 for shape in world.backend.renderer.added)
    assert any(
        cube.geoms in one and handle.geoms in one and one[cube.geoms] != one[handle.geoms] for one in painted
    )


@pytest.mark.slow
def test_the_same_seed_draws_the_same_pictures(small: DetectorRecipe, pictures: Path, tmp_path: Path) -> None:
    draw_all(small, PICTURES, tmp_path / "again.npz", 0, lambda count: None)
    with np.load(pictures) as first, np.load(tmp_path / "again.npz") as second:
        assert first["images"].shape == (PICTURES, 64, 64, 3)
        np.testing.assert_array_equal(first["images"], second["images"])
        np.testing.assert_array_equal(first["things"], second["things"])


def test_it_learns_and_says_what_it_is_made_of(small: DetectorRecipe, pictures: Path, tmp_path: Path) -> None:
    losses: list[float] = []
    config = DetectorTraining(steps=STEPS)
    train(pictures, small, tmp_path, config, progress=lambda step, loss: losses.append(loss))
    assert len(losses) == STEPS
    assert np.mean(losses[-2:]) < np.mean(losses[:2])
    made_of = read_metadata(tmp_path / "model.safetensors")
    assert (made_of["pictures"], made_of["train_init_ids"]) == (str(PICTURES), "0-999")
    assert (tmp_path / "model.safetensors").stat().st_size < 5e6
    detector = load_folder(tmp_path, threshold=0.0)
    assert {one.label.split()[-1] for one in detector.find(np.zeros((64, 64, 3), np.uint8), "the cube")} >= {
        "cube"
    }


@pytest.mark.slow
def test_a_training_that_was_killed_ends_as_an_unbroken_one(
    small: DetectorRecipe, pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openral_training.detector.train.SAVE_EVERY", 2)
    config = DetectorTraining(steps=4)
    train(pictures, small, tmp_path / "unbroken", config)

    def kill(step: int, loss: float) -> None:
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(pictures, small, tmp_path / "resumed", config, progress=kill)
    train(pictures, small, tmp_path / "resumed", config)
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("unbroken", "resumed"))
    assert all(torch.equal(weights, other[name]) for name, weights in one.items())


def test_pictures_of_another_size_and_a_judged_folder_are_refused(pictures: Path, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="pictures of 64 px, the recipe says 128"):
        train(pictures, RECIPE, tmp_path)
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "mini_detector.json").write_text('{"results": {"near_cm": 5.0}}')
    done = CliRunner().invoke(train_app, ["detector", "--out", str(tmp_path)])
    assert isinstance(done.exception, OutputError)


@pytest.mark.slow
def test_pictures_of_another_recipe_are_not_trained_on(
    small: DetectorRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openral_training.detector.train.SAVE_EVERY", 2)
    recipe, out = tmp_path / "recipe.yaml", tmp_path / "out"
    words = ["detector", "--out", str(out), "--recipe", str(recipe), "--steps", "3"]

    def command(recipe_now: DetectorRecipe, *more: str) -> BaseException | None:
        recipe.write_text(yaml.safe_dump(recipe_now.model_dump(mode="json", exclude_defaults=True)))
        return CliRunner().invoke(train_app, [*words, *more]).exception

    draw_all(small, 5, out / "run" / "pictures.npz", 7, lambda count: None)  # another seed, killed after it
    other = small.model_copy(update={"train_init_ids": InitRange(first=100, count=20)})
    assert command(other, "--pictures", "10") is None
    assert read_metadata(out / "model.safetensors")["pictures"] == "10"
    with np.load(out / "run" / "pictures.npz") as drawn:
        before = drawn["things"].copy()
    (out / "run" / "state.safetensors").touch()  # as a killed training leaves it
    refused = command(small, "--pictures", "10")
    assert isinstance(refused, ContractError)
    assert "holds pictures of another --recipe, --pictures or --seed" in str(refused)
    with np.load(out / "run" / "pictures.npz") as drawn:
        np.testing.assert_array_equal(drawn["things"], before)


def test_a_detector_is_not_judged_on_states_that_it_saw_before_a_warm_start(
    small: DetectorRecipe, pictures: Path, tmp_path: Path
) -> None:
    train(pictures, small, tmp_path / "first", DetectorTraining(steps=1))
    other = small.model_copy(update={"train_init_ids": InitRange(first=5000, count=9)})
    train(pictures, other, tmp_path / "second", DetectorTraining(steps=1), tmp_path / "first")
    weights = tmp_path / "second" / "model.safetensors"
    refuse_trained_states(weights, [1000, 1001])
    for seen in (5000, 999):
        with pytest.raises(ContractError, match=rf"1 of those .*\({seen} …\)"):
            refuse_trained_states(weights, [seen, 9999])


@pytest.mark.parametrize(
    "made_of", ["x", "[1]", "[" * 100_000, '{"train_init_ids": "all"}', '{"warm_start_made_of": "x"}']
)
def test_weights_that_do_not_tell_their_states_rightly_are_not_judged(made_of: str, tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    save_file({"a": torch.zeros(1)}, weights, {MADE_OF: made_of})
    with pytest.raises(ContractError, match=r"its header does not tell what it was trained on \("):
        refuse_trained_states(weights, [1000])


def test_a_thing_that_nothing_shows_is_told_with_its_line(tmp_path: Path) -> None:
    content = yaml.safe_load(recipe_file("mini_detector", of_detector=True).read_text())
    content["worlds"][0]["things"] = {content["labels"][0]: {"at": "can"}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ManifestError, match=r"mine\.yaml:\d+: worlds.*geoms: are missing, and so are bodies"):
        load_detector_recipe(tmp_path / "mine.yaml")


def test_a_recipe_whose_things_are_never_seen_is_told(small: DetectorRecipe, tmp_path: Path) -> None:
    [world] = small.worlds
    nothing = small.model_copy(
        update={"worlds": (world.model_copy(update={"things": {}}),), "labels": ("x",)}
    )
    with pytest.raises(ContractError, match="none of the recipe's things is to be seen in any of 5 pictures"):
        draw_all(nothing, 5, tmp_path / "pictures.npz", 0, lambda count: None)


def test_a_name_that_is_no_recipe_is_told_those_of_its_kind() -> None:
    with pytest.raises(
        NotFoundError, match=r"did you mean 'mini_detector'; openral ships mini_detector, mini_det"
    ):
        load_detector_recipe("mini_detectr")
    with pytest.raises(NotFoundError, match="openral ships mini_metaworld, ") as told:
        load_recipe("nothing")
    assert "detector" not in str(told.value)


def test_measures_tell_found_from_answered_and_absent_from_there() -> None:
    rows = [
        {"look": "plain", "scene": "a", "label": "cube", "there": True, "answered": True, "error_cm": 1.0},
        {"look": "plain", "scene": "a", "label": "cube", "there": True, "answered": True, "error_cm": 9.0},
        {"look": "plain", "scene": "a", "label": "cube", "there": True, "answered": False},
        {"look": "plain", "scene": "a", "label": "peg", "there": False, "answered": True},
        {"look": "plain", "scene": "a", "label": "peg", "there": False, "answered": False},
    ]
    found = measures(rows)["by_look"]["plain"]
    assert (found["n"], found["answered"], found["found"]) == (3, 2, 1)
    assert (found["n_absent"], found["false_finds"]) == (2, 1)
    assert found["median_cm"] == 5.0
    assert found["by_label"]["peg"]["n"] == 0


def test_a_world_that_is_to_be_made_first_is_told_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["eval", "--rskill", "mini-detector-robosuite", "--recipe", "mini_detector_robosuite"]
    refused = CliRunner().invoke(app, words).exception
    assert isinstance(refused, NotFoundError)
    assert str(refused).endswith(
        "openral robot world fr3_robosuite_lift --first 0 --count 2050 --out runs/worlds/lift"
    )


def test_a_recipe_that_does_not_fit_itself_is_refused_before_its_pictures_are_drawn(tmp_path: Path) -> None:
    content = yaml.safe_load(recipe_file("mini_detector", of_detector=True).read_text(encoding="utf-8"))
    content["labels"] = [*content["labels"][1:], content["labels"][-1]]
    content |= {"image_size": 100, "heldout_init_ids": {**content["train_init_ids"]}}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(ManifestError) as refused:
        load_detector_recipe(path)
    told = str(refused.value)
    for fault in (
        "heldout_init_ids: ",
        "labels: name a thing twice",
        "is none of labels; add it there",
        "image_size: is 100, no multiple of 16",
    ):
        assert fault in told, told
