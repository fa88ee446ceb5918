"""The client's half, with a server that a test can foresee; the real one is in tests/sidecars."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openral_core.errors import PolicyError
from openral_core.manifest import RSkillManifest
from openral_reward_monitor.models.reward_model import checked, reward_family
from openral_reward_monitor.models.robometer.identity import identity_of
from openral_reward_monitor.models.robometer.model import RobometerRewardModel, fitted, server_arguments
from openral_rskill.registry import resolve
from openral_sidecar.errors import SidecarDown
from openral_sidecar.wires.openral import MAX_BYTES


class BrightnessServer:
    """Answers with how bright each frame is."""

    description: dict[str, Any] = {"max_frames": 8, "bins": 10}  # noqa: RUF012  read only

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.down = self.closed = False

    def call(self, op: str, data: Any = None) -> dict[str, Any]:
        assert op == "score"
        if self.down:
            raise SidecarDown("robometer: it was killed; being restarted")
        self.asked.append(dict(data))
        curve = data["frames"].reshape(len(data["frames"]), -1).mean(axis=1) / 255
        return {"progress": curve, "success": 1 - curve}

    def close(self) -> None:
        self.closed = True


def ramp(count: int, height: int = 8, width: int = 12) -> np.ndarray:
    levels = np.linspace(0, 255, count).round().astype(np.uint8)
    return np.broadcast_to(levels[:, None, None, None], (count, height, width, 3)).copy()


@pytest.mark.parametrize("count", [1, 2, 8, 9, 41])
def test_no_more_than_eight_frames_cross_the_wire_and_every_frame_gets_a_score(count: int) -> None:
    server = BrightnessServer()
    frames = ramp(count)
    scores = checked(RobometerRewardModel("robometer", server).score(frames, "open the drawer"), count)
    (asked,) = server.asked
    assert asked["task"] == "open the drawer"
    assert asked["frames"].shape == (min(count, 8), 8, 12, 3)
    assert asked["frames"][0].tolist() == frames[0].tolist()
    assert asked["frames"][-1].tolist() == frames[-1].tolist()
    np.testing.assert_allclose(scores.progress, frames[:, 0, 0, 0] / 255, atol=0.02)
    np.testing.assert_allclose(scores.success, 1 - scores.progress, atol=1e-6)


def test_a_task_is_words_and_never_the_models_own_tokens() -> None:
    """A progress token in it would count as one of a frame, and a token of an image ask for one more picture."""
    server = BrightnessServer()
    model = RobometerRewardModel("robometer", server)
    for task, sent in (
        ("open <|prog_token|> the drawer", "open < |prog_token|> the drawer"),
        ("<<||image_pad||>>", "<< ||image_pad||>>"),
        ("put it < 3 cm | left", "put it < 3 cm | left"),
    ):
        model.score(ramp(2), task)
        assert server.asked[-1]["task"] == sent


def test_large_frames_are_made_smaller_so_that_eight_of_them_fit_a_message() -> None:
    server = BrightnessServer()
    RobometerRewardModel("robometer", server).score(ramp(20, 1080, 1920), "open the drawer")
    frames = server.asked[0]["frames"]
    assert frames.shape == (8, 360, 640, 3)
    assert frames.nbytes < MAX_BYTES
    assert fitted(ramp(1, 640, 640)[0]).nbytes * 8 < MAX_BYTES


def test_what_the_sidecar_says_reaches_whoever_asked() -> None:
    server = BrightnessServer()
    model = RobometerRewardModel("OpenRAL/rskill-robometer-4b-nf4", server)
    server.down = True
    with pytest.raises(PolicyError, match="robometer-4b-nf4: robometer: it was killed"):
        model.score(ramp(3), "open the drawer")
    model.close()
    assert server.closed


def shipped() -> RSkillManifest:
    return resolve("robometer-4b-nf4").manifest


def test_the_family_is_found_in_the_hubs_manifest_that_names_none() -> None:
    manifest = shipped()
    assert reward_family(manifest) == "robometer"
    bare = manifest.model_copy(update={"model_family": None})
    assert reward_family(bare) == "robometer"
    plain = bare.model_copy(update={"quantization": bare.quantization.model_copy(update={"extra": {}})})
    assert reward_family(plain) is None


def test_the_server_is_started_with_what_the_manifest_says(tmp_path: Path) -> None:
    manifest = shipped()
    arguments, identity = server_arguments(manifest, tmp_path, "cuda:0")
    assert arguments == [
        *("--checkpoint", str(tmp_path), "--device", "cuda:0", "--quantization", "nf4"),
        *("--min-numel", "4000000"),
    ]
    assert (identity.model, identity.quantization) == (str(tmp_path), "nf4")
    wide = manifest.model_copy(
        update={"quantization": manifest.quantization.model_copy(update={"dtype": "bf16"})}
    )
    assert server_arguments(wide, tmp_path, "cpu")[1].quantization == "none"


def test_other_files_in_the_same_folder_are_another_identity(tmp_path: Path) -> None:
    weights, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    weights.write_bytes(b"w" * 100)
    config.write_text("{}")
    (tmp_path / "README.md").write_text("words")
    first = identity_of(tmp_path, "nf4")
    (tmp_path / "README.md").write_text("other words")
    assert identity_of(tmp_path, "nf4") == first
    config.write_text('{"a": 1}')
    assert identity_of(tmp_path, "nf4") != first
    config.write_text("{}")
    assert identity_of(tmp_path, "nf4") == first
    os.utime(weights, ns=(1, 1))
    assert identity_of(tmp_path, "nf4") != first
