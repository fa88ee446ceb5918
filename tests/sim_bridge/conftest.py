"""A bridge in a process of its own, and a node that listens to it."""

from __future__ import annotations

import os
import subprocess

import pytest
from bridge_observer import DOMAIN, Observer
from warm_processes import run_module


@pytest.fixture
def observer():
    observer = Observer()
    yield observer
    observer.close()


@pytest.fixture
def start(fake_scene, tmp_path):
    """Return a function that starts a bridge and ends it after the test."""
    processes = []

    def start(**parameters):
        words = [f"{k}:={v}" for k, v in {"scene": fake_scene, **parameters}.items()]
        arguments = ["--ros-args", *(word for pair in words for word in ("-p", pair))]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "OMP_NUM_THREADS": "1"}
        environment["XDG_STATE_HOME"] = str(tmp_path / "state")  # a stop is not that of the next test
        process = run_module(
            "openral_sim_bridge.ros.bridge_node", *arguments, environment=environment, stderr=subprocess.PIPE
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        if not process.stderr.closed:
            process.communicate()
