"""A skill in a scene of one's own: gates, adapters, policy, simulator and films, as `openral sim run` has them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import psutil
import pytest

from openral_benchmark import single_run
from openral_benchmark.single_run import SimRun, simulate
from openral_core.errors import ContractError, OpenralError
from openral_core.files.share import share_directory
from openral_core.scene import load_scene
from openral_core.types import Policy
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.registry import RSkillPackage, load_package
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rollout import EpisodeRow
from openral_sim_bridge.simulation import BridgeOptions, Simulation

SKILL = Path(__file__).parents[3] / "docs" / "examples" / "press-button"


@pytest.fixture
def own_scene(tmp_path: Path) -> Path:
    """A copy of the Sawyer's tabletop in a folder of its own, as the page about one's own scene makes it."""
    shutil.copytree(share_directory() / "scenes" / "mjcf" / "tabletop_sawyer", tmp_path, dirs_exist_ok=True)
    text = (share_directory() / "scenes" / "deploy" / "tabletop_sawyer.yaml").read_text()
    path = tmp_path / "scene.yaml"
    path.write_text(text.replace("../mjcf/tabletop_sawyer/scene.xml", "scene.xml").replace("256", "64"))
    return path


def test_a_blind_skill_presses_the_button_from_every_initial_state(own_scene: Path, tmp_path: Path) -> None:
    package, scene = load_package(SKILL), load_scene(own_scene)
    plan = SimRun("press-button", "press the button", 0, episodes=3, horizon=80, num_envs=2)
    rows = simulate(package, scene, plan, videos=tmp_path / "films")
    assert [(row.success, row.init_id) for row in rows] == [(True, 0), (True, 1), (True, 2)]
    assert len(list((tmp_path / "films").glob("*.mp4"))) == 3
    with pytest.raises(ContractError, match="embodiment"):
        simulate(package, load_scene("tabletop_panda"), plan)


def test_no_more_films_are_open_than_episodes_run(own_scene: Path, tmp_path: Path) -> None:
    plan = SimRun("press-button", "press the button", 0, episodes=4, horizon=2)
    still_open: list[int] = []

    def ended(row: EpisodeRow) -> None:
        still_open.append(sum(file.path.endswith(".mp4") for file in psutil.Process().open_files()))

    rows = simulate(load_package(SKILL), load_scene(own_scene), plan, videos=tmp_path, progress=ended)
    assert (len(rows), still_open) == (4, [0] * 4)
    assert all(film.stat().st_size > 1000 for film in tmp_path.glob("*.mp4"))


def test_a_policy_whose_simulator_cannot_be_opened_is_closed(
    own_scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []

    def watched(package: RSkillPackage, device: str) -> Policy:
        policy = load_policy(package, device)
        monkeypatch.setattr(policy, "close", lambda: closed.append(policy), raising=False)
        return policy

    monkeypatch.setattr(single_run, "load_policy", watched)
    scene = load_scene(own_scene)
    (own_scene.parent / "scene.xml").write_text("<mujoco>")
    with pytest.raises(OpenralError, match=r"scene\.xml"):
        simulate(
            load_package(SKILL), scene, SimRun("press-button", "press the button", 0, episodes=1, horizon=2)
        )
    assert len(closed) == 1


class Listener:
    """Hears what a bridge would publish."""

    def __init__(self) -> None:
        self.states, self.pictures = [], {}

    def clock(self, stamp_s):
        pass

    def begin(self, stamp_s):
        pass

    def executed(self, stamp_s, action, held, goal_id):
        pass

    def state(self, state):
        self.states.append(state)

    def images(self, stamp_s, images):
        self.pictures = images

    def rejected(self, chunk, reason):
        raise AssertionError(reason)

    def goal_changed(self):
        pass


def test_the_bridge_lives_in_it_and_knows_frames_and_cameras(own_scene: Path, tmp_path: Path) -> None:
    heard = Listener()
    options = BridgeOptions(str(own_scene), run_dir=str(tmp_path / "run"), real_time_factor=0.0)
    simulation = Simulation(options, heard, make_backend)
    frames = [*simulation.links.fixed(), *simulation.links.moving(simulation.joint_positions())]
    assert {"right_arm_base_link", "hand", "rightclaw"} <= {frame.child for frame in frames}
    assert {(camera.name, camera.parent) for camera in simulation.cameras} == {
        ("front", "world"),
        ("wrist", "right_hand"),
    }
    simulation.loop.run(lambda: len(heard.states) < 10)
    simulation.finish()
    simulation.live()
    assert set(heard.pictures) == {"front", "wrist"}
    assert np.linalg.norm(heard.states[-1].ee_position - heard.states[0].ee_position) < 1e-3, (
        "nobody moves it"
    )
    assert "mjcf at 20 Hz" in simulation.describe()
    with np.load(tmp_path / "run" / "truth.npz") as truth:
        assert truth["held"].all()
