"""A bridge and a locator as processes, and a node that asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import rclpy
from openral.srv import Locate
from rclpy.executors import SingleThreadedExecutor

DOMAIN = int(os.environ["ROS_DOMAIN_ID"])
PATIENCE_S = 90.0


class Processes:
    """Starts nodes as modules, and ends those that it started."""

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[str]] = []

    def start(self, module: str, **parameters: Any) -> subprocess.Popen[str]:
        words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
        process = subprocess.Popen(
            [sys.executable, "-m", module, "--ros-args", *words],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._running.append(process)
        return process

    def close(self) -> None:
        for process in self._running:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Asker:
    """A node that asks the locator."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        self.context.init(domain_id=DOMAIN)
        self.node = rclpy.create_node("asker", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self._client = self.node.create_client(Locate, "/openral/perception/locate")

    def until(self, condition: Any, patience_s: float = PATIENCE_S) -> None:
        end = time.monotonic() + patience_s
        while not condition():
            assert time.monotonic() < end, "patience is over"
            self.executor.spin_once(timeout_sec=0.05)

    def ask(self, **fields: Any) -> Any:
        self.until(self._client.service_is_ready)
        future = self._client.call_async(Locate.Request(**fields))
        self.until(future.done)
        return future.result()

    def ask_until(self, met: Sequence[str], **fields: Any) -> Any:
        """Ask again while the answer is a refusal with one of these words in it: pictures take a while to come."""
        end = time.monotonic() + PATIENCE_S
        while True:
            answer = self.ask(**fields)
            if answer.ok or not any(words in answer.message for words in met):
                return answer
            assert time.monotonic() < end, answer.message
            time.sleep(0.2)

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()
