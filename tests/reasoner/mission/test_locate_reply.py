"""What an agent is told of the locator's answer."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from geometry_msgs.msg import Point, PointStamped
from openral.srv import Locate
from std_msgs.msg import Header

from openral_reasoner.mission.agent_requests import Reply
from openral_reasoner.ros.perception_client import locate_reply


def located(frame: str = "world", prefix: str = "", **answer: Any) -> Reply:
    point = PointStamped(header=Header(frame_id=frame), point=Point(x=0.1, y=0.2, z=0.3))
    return locate_reply(Locate.Response(ok=True, point=point, **answer), prefix)


@pytest.mark.parametrize(("frame", "prefix"), [("world", ""), ("arm2/world", "arm2/")])
def test_a_point_in_the_world_frame_is_told(frame: str, prefix: str) -> None:
    reply = located(frame, prefix, confidence=0.75)
    assert reply.ok
    assert json.loads(reply.text)["position_m"] == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(("frame", "prefix"), [("camera", ""), ("", ""), ("world", "arm2/")])
def test_a_point_in_another_frame_is_no_place_to_go_to(frame: str, prefix: str) -> None:
    reply = located(frame, prefix)
    assert not reply.ok
    assert f"the point is in the frame '{frame}', not in {prefix}world" in reply.text


def test_numbers_that_are_none_leave_the_answer_json() -> None:
    reply = located(confidence=math.nan, age_s=math.inf, covariance=[math.nan] * 9)

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    told = json.loads(reply.text, parse_constant=refuse)
    assert (told["confidence"], told["age_s"], told["sigma_m"]) == (None, None, [None, None, None])
