"""docs/architecture.svg is what the imports say."""

from __future__ import annotations

import architecture_picture


def test_the_picture_is_that_of_the_imports() -> None:
    drawn = architecture_picture.PICTURE.read_text()
    assert drawn == architecture_picture.picture(), "python tools/pages/architecture_picture.py"


def test_what_follows_from_two_imports_is_left_out() -> None:
    edges = {"cli": {"control", "core"}, "control": {"core"}, "core": set()}
    assert architecture_picture.reduced(edges) == {"cli": {"control"}, "control": {"core"}, "core": set()}


def test_every_package_has_a_place_and_a_purpose() -> None:
    names = [name for row in architecture_picture.layers() for name in row]
    assert sorted(names) == sorted(
        path.name for path in (architecture_picture.ROOT / "src").iterdir() if path.is_dir()
    )
    assert all(architecture_picture.purpose(name).endswith(".") for name in names)
