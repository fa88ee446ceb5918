"""What an agent may observe of the world: images of cameras, the reward monitor's scores, and where things are."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import cv2
from openral.srv import Locate as LocateService
from openral.srv import QueryTaskProgress
from rclpy.node import Node
from sensor_msgs.msg import Image

from openral_core.cli.printable import plain_line
from openral_core.errors import OpenralError
from openral_core.graph.namespaces import frame_prefix
from openral_core.image_message import decode_image
from openral_core.progress_judgement import ProgressReading
from openral_core.ros.qos import NEWEST
from openral_core.scene import SceneCamera
from openral_reasoner.location_check import frame_fault
from openral_reasoner.mission.agent_requests import Locate, Look, QueryProgress, Reply, Sensing
from openral_reasoner.ros.skill_client import Guard

PATIENCE_S = 5.0
"""[s] wall time that a camera, the reward monitor or the locator has to answer."""
SERVICE = "perception/query_task_progress"
LOCATE = "perception/locate"
MAX_OTHERS = 20
"""Other things in the picture that an answer of `locate` lists, at most."""
MAX_TASK = 200
"""Characters of a task's words that are sent to the reward monitor."""

Answer = Callable[[Reply], None]


@dataclass
class _WaitingAnswer:
    """A request that was not answered yet."""

    answer: Answer
    until_wall_s: float
    """[s] monotonic, after which it is answered with a failure."""
    what: str
    """Who is to answer, in words."""
    release: Callable[[], object] = lambda: None
    """Frees what waits for the answer."""


class CameraAndMonitor:
    """Serves `Look`, `QueryProgress` and `Locate`; `tick` is called often, and ends requests that nobody answers."""

    def __init__(self, node: Node, guard: Guard, cameras: Sequence[SceneCamera]) -> None:
        self._node, self._guard = node, guard
        self._cameras = {camera.name: camera for camera in cameras}
        self._client = node.create_client(QueryTaskProgress, SERVICE)
        self._locator = node.create_client(LocateService, LOCATE)
        self._waiting: list[_WaitingAnswer] = []

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras."""
        return list(self._cameras)

    @property
    def locates(self) -> bool:
        """Whether the service that locates things is there."""
        return bool(self._locator.service_is_ready())

    def sense(self, request: Sensing, answer: Answer) -> None:
        """Look through a camera, query the reward monitor, or locate a thing."""
        if isinstance(request, Look):
            self._look(request.camera, answer)
        elif isinstance(request, Locate):
            self._locate(request, answer)
        else:
            self._query(request, answer)

    def tick(self) -> None:
        """Answer the requests whose time is over with a failure."""
        for waiting in [w for w in self._waiting if time.monotonic() > w.until_wall_s]:
            self._end(waiting, Reply(False, f"{waiting.what} did not answer within {PATIENCE_S:.0f} s"))

    def close(self) -> None:
        """Answer all open requests with a failure, and destroy the clients."""
        for waiting in list(self._waiting):
            self._end(waiting, Reply(False, "the reasoner ends"))
        self._node.destroy_client(self._client)
        self._node.destroy_client(self._locator)

    def _look(self, name: str, answer: Answer) -> None:
        camera = self._cameras.get(name)
        if camera is None:
            answer(Reply(False, f"there is no camera '{name[:40]}'; there is {', '.join(self._cameras)}"))
            return
        topic = f"cameras/{name}/image_raw"
        waiting = self._wait(answer, f"camera {name}")
        seen = partial(self._seen, waiting, camera)
        subscription = self._node.create_subscription(Image, topic, seen, NEWEST)
        waiting.release = lambda: self._node.destroy_subscription(subscription)

    def _seen(self, waiting: _WaitingAnswer, camera: SceneCamera, message: Any) -> None:
        try:
            image = decode_image(camera, message)
        except OpenralError as error:
            self._end(waiting, Reply(False, str(error)))
            return
        encoded = cv2.imencode(".png", image[:, :, ::-1])[1].tobytes()
        self._end(waiting, Reply(True, f"the newest image of {waiting.what}", encoded))

    def _query(self, request: QueryProgress, answer: Answer) -> None:
        if not self._client.service_is_ready():
            answer(Reply(False, "the reward monitor is not running"))
            return
        waiting = self._wait(answer, "the reward monitor")
        # A query that is repeated is to score new frames, and not to return the same scores again.
        wanted = QueryTaskProgress.Request(
            window_s=request.window_s, task=request.task[:MAX_TASK], fresh=True
        )
        answered = self._guard(partial(self._answered, waiting), SERVICE)
        self._call(self._client, wanted, waiting, answered)

    def _answered(self, waiting: _WaitingAnswer, future: Any) -> None:
        self._end(waiting, progress_reply(future.result()))

    def _locate(self, request: Locate, answer: Answer) -> None:
        if not self._locator.service_is_ready():
            answer(Reply(False, "nothing in the graph answers where a thing is"))
            return
        waiting = self._wait(answer, "what locates things")
        wanted = LocateService.Request(words=request.words, camera=request.camera, u=request.u, v=request.v)
        located = self._guard(partial(self._located, waiting), LOCATE)
        self._call(self._locator, wanted, waiting, located)

    def _located(self, waiting: _WaitingAnswer, future: Any) -> None:
        self._end(waiting, locate_reply(future.result(), frame_prefix(self._node.get_namespace())))

    def _call(
        self, client: Any, request: Any, waiting: _WaitingAnswer, answered: Callable[[Any], object]
    ) -> None:
        """Call a service; a call that is not answered in time is dropped."""
        future = client.call_async(request)
        waiting.release = lambda: client.remove_pending_request(future)
        future.add_done_callback(answered)

    def _wait(self, answer: Answer, what: str) -> _WaitingAnswer:
        waiting = _WaitingAnswer(answer, time.monotonic() + PATIENCE_S, what)
        self._waiting.append(waiting)
        return waiting

    def _end(self, waiting: _WaitingAnswer, reply: Reply) -> None:
        if waiting in self._waiting:
            self._waiting.remove(waiting)
            waiting.release()
            waiting.answer(reply)


def progress_reply(response: Any) -> Reply:
    """Return the monitor's answer in one sentence, with its reading if it is neither abstained nor stale."""
    if response is None or not response.ok:
        why = plain_line(response.message) if response is not None else "no answer"
        return Reply(False, f"no score: {why}")
    age = f", {response.age_s:.1f} s old and stale" if response.stale else ""
    done = "the task counts as done" if response.succeeded else "the task does not count as done"
    if response.abstained:
        done = f"the monitor cannot tell whether the task is done: {plain_line(response.message)}"
    doubtful = response.abstained or response.stale
    # `calibrated` decides whether the success head alone counts, or both heads must be high.
    read = ProgressReading(0.0, response.progress_now, response.success_now, calibrated=response.calibrated)
    return Reply(
        True,
        f"progress {response.progress_now:.2f}, success {response.success_now:.2f}{age}; {done}",
        reading=None if doubtful else read,
    )


def locate_reply(response: Any, prefix: str = "") -> Reply:
    """Return where a thing is as JSON: [m] in the world frame of the scene, standard deviations, confidence, age.

    Args:
        response: `openral/srv/Locate` response; None: there was none.
        prefix: of the frames of the deployment.
    """
    if response is None or not response.ok:
        why = plain_line(response.message) if response is not None else "no answer"
        return Reply(False, f"not located: {why}")
    if fault := frame_fault(response, prefix):
        return Reply(False, f"not located: {fault}")
    point, covariance = response.point.point, [float(value) for value in response.covariance]
    sigma = [math.sqrt(value) if 0 <= value < math.inf else math.nan for value in covariance[::4]]
    position = [_rounded(value, 4) for value in (point.x, point.y, point.z)]
    fields = {
        "position_m": position,
        "sigma_m": [_rounded(value, 4) for value in sigma],
        "confidence": _rounded(response.confidence, 3),
        "age_s": _rounded(response.age_s, 2),
        "pixel": [_rounded(response.u, 1), _rounded(response.v, 1)],
        "source": plain_line(response.source),
        "others": [plain_line(words) for words in response.others[:MAX_OTHERS]],
        "remark": plain_line(response.message),
    }
    if None in position:
        return Reply(False, "not located: the position is not finite")
    return Reply(True, json.dumps(fields))


def _rounded(value: float, digits: int) -> float | None:
    """Return a number with so many decimals; None for one that is not finite, which JSON has no word for."""
    return round(value, digits) if math.isfinite(value) else None
