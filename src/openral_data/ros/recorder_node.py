"""The node `recorder`, which records a deployment.

The executor's threads only receive messages; a separate thread decodes them, assembles frames and writes, and a
separate process encodes the videos. The nodes that command the arm wait for none of these.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from openral.msg import RecorderStatus
from openral.srv import MarkEpisode
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage
from std_srvs.srv import Trigger

from openral_core.errors import ContractError, OutputError
from openral_core.files.user_path import user_path
from openral_core.graph.namespaces import COMPRESSED_SUFFIX, DEFAULT_NAMESPACE
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.robot import load_robot
from openral_core.ros.number_parameters import number_of
from openral_core.ros.qos import LATCHED
from openral_core.ros.run_node import run_node
from openral_core.scene import load_scene
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.outcome import OUTCOMES
from openral_data.recording.recorder import EpisodeRecorder
from openral_data.recording.repair import repair_recording
from openral_data.recording.strategy import strategy_of
from openral_data.recording.task_lookup import task_words
from openral_data.recording_folder import GIGABYTE, MIN_FREE_GB, RUN_RECORDING, RecordingFolder
from openral_data.ros.intake import MessageIntake
from openral_data.ros.topics import RecordedTopic, recorded_topics

WAITING_IMAGES = 90
"""Largest number of images that wait to be written; further ones are dropped and counted."""
WAITING_MESSAGES = 20_000
"""Largest number of messages of all topics that wait, those of a minute or more; further ones are dropped, and missing
steps are counted. So many wait only where the disk does not answer."""
POLL_S, STATUS_S = 0.1, 1.0
"""[s] between two looks of the writing thread at time and disk; between two statuses."""
PAUSE_S = 1.0
"""[s] that the writing thread waits after something went wrong, so that it does so once a second at most."""
ORDER_S = 30.0
"""[s] that a service waits for the writing thread."""
NICENESS = 5
"""Niceness of this process and of the encoder, which gives priority to the nodes that move the arm."""
MAX_FREE_GB = 1e6
"""[GB] more than any disk has."""
Order = Callable[[], tuple[bool, str]]
Take = Callable[[RecordedTopic, bytes, int], None]


class RecorderNode(GuardedCallbacks, Node):
    """Parameters: `scene`, `strategy`, `folder` (empty: `recording` in the run's folder), `run_dir`, `min_free_gb`,
    `compressed` (pictures are had as JPEG, over a thin network).
    """

    def __init__(self) -> None:
        super().__init__("recorder", namespace=DEFAULT_NAMESPACE)
        for name, default in (("scene", ""), ("strategy", "episodes"), ("folder", ""), ("run_dir", "")):
            self.declare_parameter(name, default)
        self.declare_parameter("min_free_gb", MIN_FREE_GB)
        self.declare_parameter("compressed", False)
        self.dropped_images = 0
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._waiting = 0
        self._closing = threading.Event()
        scene = load_scene(self._value("scene"))
        columns = RecordedColumns.of(scene, load_robot(scene.robot_id), Path(self._value("scene")).stem)
        folder = self._folder()
        repaired = repair_recording(folder, columns) if folder.root.is_dir() else []
        for line in repaired:
            self.get_logger().info(line)
        run_dir = self._value("run_dir")
        self._recorder = EpisodeRecorder(
            folder,
            columns,
            strategy_of(self._value("strategy")),
            truth=Path(run_dir) / "truth.npz" if run_dir else None,
            min_free_gb=number_of(self, "min_free_gb", least=0.0, most=MAX_FREE_GB, unit="gigabytes"),
            say=self._say,
            tasks=task_words(scene),
        )
        self._intake = MessageIntake(self._recorder)
        self._status = self.create_publisher(RecorderStatus, "recorder/status", LATCHED)
        self._listen(recorded_topics(columns))
        self._offer()
        self._thread = threading.Thread(target=self._write, name="write", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish what is being recorded; it is on the disk when this returns."""
        self._closing.set()
        self._thread.join()

    # -- beginning ---------------------------------------------------------------------------------

    def _folder(self) -> RecordingFolder:
        folder, run_dir = self._value("folder"), self._value("run_dir")
        if not folder and not run_dir:
            raise OutputError("the recorder has no folder; set record_dir:=FOLDER or run_dir:=FOLDER")
        return RecordingFolder(user_path(folder) if folder else Path(run_dir) / RUN_RECORDING)

    def _listen(self, topics: list[RecordedTopic]) -> None:
        compressed = bool(self._value("compressed"))
        for topic in topics:
            kind, name, take = topic.message_type, topic.heard_on, self._intake.take
            if topic.camera and compressed:
                kind, name, take = CompressedImage, f"{name}{COMPRESSED_SUFFIX}", self._intake.take_compressed
            on_message = partial(self._on_message, topic, take)
            self.create_subscription(kind, name, on_message, topic.qos, raw=True)

    def _offer(self) -> None:
        group = (
            MutuallyExclusiveCallbackGroup()
        )  # a service waits for the writing thread, the intake must not
        orders: dict[str, Order] = {
            "start": lambda: self._recorder.start(),
            "stop": lambda: self._recorder.stop(),
            "discard": lambda: self._recorder.discard(),
            "highlight": lambda: self._recorder.highlight(),
        }
        for name, order in orders.items():
            serve = partial(self._on_order, order)
            self.create_service(Trigger, f"recorder/{name}", serve, callback_group=group)
        self.create_service(MarkEpisode, "recorder/mark", self._on_mark, callback_group=group)
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(STATUS_S, self._publish_status, callback_group=group, clock=wall)

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    # -- callbacks ---------------------------------------------------------------------------------

    def _on_message(self, topic: RecordedTopic, take: Take, data: Any) -> None:
        received_ns = time.time_ns()
        if self._work.qsize() >= WAITING_MESSAGES:
            what = f"{WAITING_MESSAGES} messages wait to be written, and further ones are dropped"
            self.get_logger().warning(f"{what}; does the disk answer?", throttle_duration_sec=5.0)
            return
        if topic.camera:
            if self._waiting >= WAITING_IMAGES:
                self.dropped_images += 1
                return
            self._waiting += 1
        self._work.put(partial(self._take, topic, take, bytes(data), received_ns))

    def _on_order(self, order: Order, request: Any, response: Any) -> Any:
        response.success, response.message = self._ask(order)
        self._publish_status()
        return response

    def _on_mark(self, request: Any, response: Any) -> Any:
        if request.outcome not in OUTCOMES:
            *others, last = OUTCOMES
            said = f"'{request.outcome:.20}' is no outcome; write {', '.join(others)} or {last}"
            response.ok, response.message = False, said
            return response
        response.ok, response.message = self._ask(lambda: self._recorder.mark(request.outcome))
        return response

    def _ask(self, order: Order) -> tuple[bool, str]:
        """Have an order obeyed by the writing thread; one that waits for too long is withdrawn."""
        done: Future[tuple[bool, str]] = Future()

        def obey() -> None:
            if not done.set_running_or_notify_cancel():
                return
            try:
                done.set_result(order())
            except BaseException as error:
                done.set_result((False, f"it failed: {error}"))
                raise

        self._work.put(obey)
        try:
            return done.result(ORDER_S)
        except FutureTimeoutError:
            if done.cancel():
                return False, f"the recorder is busy, nothing came of it within {ORDER_S:.0f} s"
            return (
                False,
                f"the recorder is at it for more than {ORDER_S:.0f} s; its status tells what comes of it",
            )

    def _publish_status(self) -> None:
        recorder = self._recorder
        notes, losses = recorder.notes, recorder.assembler.losses
        message = RecorderStatus(
            strategy=recorder.strategy.name,
            recording=notes is not None,
            by_hand=notes is not None and notes.by_order,
            folder=str(recorder.folder.root),
            instruction=notes.sentence if notes else "",
            episode_s=time.monotonic() - notes.began_s if notes else 0.0,
            frames=recorder.frames,
            episodes=recorder.episodes,
            dropped_images=self.dropped_images,
            repeated_images=recorder.repeated_images + (losses.repeated_images if notes else 0),
            missing_steps=recorder.missing_steps + (losses.missing_steps if notes else 0),
            free_gb=recorder.free_bytes / GIGABYTE,
            stopped_by=recorder.stopped_by,
        )
        message.header.stamp = self.get_clock().now().to_msg()
        self._status.publish(message)

    def _say(self, line: str, trouble: bool) -> None:
        if trouble:
            self.get_logger().warning(line)
        else:
            self.get_logger().info(line)

    # -- the writing thread ------------------------------------------------------------------------

    def _write(self) -> None:
        while not self._closing.is_set():
            self._work_off(POLL_S)
        for _ in range(self._work.qsize()):  # what came before the end is recorded, too
            self._work_off(0.0)
        self._recorder.close()

    def _work_off(self, patience_s: float) -> None:
        """Do the next piece of work, if there is one within so many seconds."""
        try:
            with contextlib.suppress(Empty):
                self._work.get(timeout=patience_s)()
            self._recorder.tick()
        except ContractError as error:
            self.get_logger().warning(f"not recorded: {error}", throttle_duration_sec=5.0)
        except Exception as error:  # noqa: BLE001  a recording that fails takes nothing down with it
            self._recorder.fail(error)
            self._closing.wait(PAUSE_S)

    def _take(self, topic: RecordedTopic, take: Take, data: bytes, received_ns: int) -> None:
        if topic.camera:
            self._waiting -= 1
        take(topic, data, received_ns)


def main(args: list[str] | None = None) -> int:
    """Run the recorder until it is told to stop; EXIT_UNFIT when it cannot record."""
    os.nice(NICENESS)
    return run_node(RecorderNode, args, threads=2)


if __name__ == "__main__":
    sys.exit(main())
