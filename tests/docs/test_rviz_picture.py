"""The picture of docs/see.md is of the layout as it is now, and what draws it puts things where they are."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from PIL import Image

from openral_cli.deploy.rviz_layout import rviz_layout
from openral_console.live.frame_tree import Pose
from openral_console.live.urdf_visuals import read_urdf
from openral_core.scene import load_scene

ROOT = Path(__file__).parents[2]
for _folder in ("tools/pages", "tests/system"):
    if str(ROOT / _folder) not in sys.path:
        sys.path.append(str(ROOT / _folder))

import rviz_picture  # noqa: E402  they lie in the folders above
from rviz_drawing import Seen, View, draw, places_of  # noqa: E402

URDF = """<robot name="arm"><link name="base"><visual><geometry><box size="0.2 0.2 0.2"/></geometry>
<material name="green"><color rgba="0 1 0 1"/></material></visual></link></robot>"""
AT = (0.2, 0.7, 0.2)
"""[m] where the link lies, in the middle of the picture's right half."""


@pytest.fixture(scope="module")
def layout() -> str:
    return rviz_layout(load_scene(rviz_picture.SCENE))


def test_the_picture_is_of_the_layout_as_it_is_now(layout: str) -> None:
    told = Image.open(rviz_picture.PICTURE).getexif().get(rviz_picture.DESCRIPTION)
    assert told == rviz_picture.digest(layout), "run python tools/pages/rviz_picture.py"


def test_a_link_a_path_and_words_are_drawn_where_they_are(layout: str) -> None:
    def at(x: float, y: float, z: float) -> SimpleNamespace:
        return SimpleNamespace(x=x, y=y, z=z)

    words = SimpleNamespace(
        text="HHHH",
        points=[],
        pose=SimpleNamespace(position=at(-0.4, 0.7, 0.4)),
        color=SimpleNamespace(r=0.0, g=0.0, b=1.0, a=1.0),
        scale=SimpleNamespace(x=0.0, z=0.05),
    )
    path = [(-0.4, 0.7, 0.1), (-0.2, 0.7, 0.1)]
    frames = {"base": ("stand", Pose((0.2, 0.0, 0.2))), "stand": ("world", Pose((0.0, 0.7, 0.0)))}
    picture = draw(layout, Seen(read_urdf(URDF), frames, path=path, markers=[words]))
    pixels = np.asarray(picture).astype(int)
    view = View(yaml.safe_load(layout)["Visualization Manager"]["Views"]["Current"])

    def near(point: tuple[float, float, float], half: int) -> np.ndarray:
        x, y, _ = view.pixel(np.array(point))
        return pixels[round(y) - half : round(y) + half, round(x) - half : round(x) + half].reshape(-1, 3)

    red, green, blue = near(AT, 3).mean(axis=0)
    assert green > 100 > red + blue
    assert (near((-0.3, 0.7, 0.1), 4) @ [1, 0, -1] > 100).any()  # the orange of the path
    assert (near((-0.4, 0.7, 0.4), 12) @ [-1, 0, 1] > 100).any()  # the blue of the words
    background = pixels[5, 5]
    np.testing.assert_allclose(background, [38, 42, 48], atol=8)


def test_frames_are_placed_through_their_parents() -> None:
    turned = Pose((1.0, 0.0, 0.0), (0.0, 0.0, 0.70710678, 0.70710678))
    places = places_of({"hand": ("arm", Pose((0.5, 0.0, 0.0))), "arm": ("world", turned)})
    np.testing.assert_allclose(places["hand"][:3, 3], [1.0, 0.5, 0.0], atol=1e-6)
