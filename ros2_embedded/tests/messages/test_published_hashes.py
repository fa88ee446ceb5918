"""Type hashes in sources that rosidl generated, of packages that rosbags does not have."""

from __future__ import annotations

import pytest

from ros2_embedded.rosidl.type_hash import type_hash

PUBLISHED = {
    "control_msgs/msg/JointJog": "ba249455a20f70168a1acb7bf43b776b72ff1f7eb5fc4cfea443f749e963c6e7",
    "control_msgs/msg/PidState": "9ab329825048ab6152868c2d086fc19f5525ed2c6fec886f719577e1ae3a6acd",
    # MultiNested holds all other messages of its package but Builtins, Strings and WStrings.
    "test_msgs/msg/MultiNested": "9ee9cbfb17c2df991a750b761a56def78674034977c829449820ca07efd9758b",
    "test_msgs/msg/Nested": "f964f9dc322022b7a681ee6933ee5c3c788025b942fedb7f4d7c018ed840cf86",
    "vision_msgs/msg/BoundingBox2D": "008eacbb0cf8f26e83795547bed013eec3675485ef386ec056d80eaaf1c1ce2f",
    "vision_msgs/msg/Detection3DArray": "793f5eab9595ac1c0da07873cc859db42eae51f0ee76056db8562515d830e018",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_hash(name: str) -> None:
    assert type_hash(name) == f"RIHS01_{PUBLISHED[name]}"
