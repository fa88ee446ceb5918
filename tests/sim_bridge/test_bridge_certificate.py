"""A bridge whose session has a certificate says when it ends, to whoever listens, and does not go on unreachable."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bridge_observer import DOMAIN

ros2_embedded = pytest.importorskip("ros2_embedded.security")
sys.path.insert(0, str(Path(__file__).parents[2] / "ros2_embedded" / "tests" / "security"))
from dated_certificate import date_certificate  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
DAY_S = 86400.0


@pytest.fixture
def keystore(tmp_path, monkeypatch):
    keystore = ros2_embedded.Keystore(tmp_path / "keystore")
    keystore.create()
    session = keystore.add("robot", ["127.0.0.1"])
    keystore.add("operator", connect=["127.0.0.1"])
    monkeypatch.setenv("ZENOH_SESSION_CONFIG_URI", str(session))
    return keystore


def test_the_end_that_comes_near_is_a_diagnosis(keystore, start):
    date_certificate(keystore, "robot", -DAY_S, 9.5 * DAY_S)
    start()
    session = str(keystore.enclave("operator") / "session.json5")
    words = [
        sys.executable,
        "-m",
        "ros2cli.cli",
        "topic",
        "echo",
        "/diagnostics",
        "--once",
        "--no-daemon",
        "--full-length",
    ]
    environment = {**os.environ, "ZENOH_SESSION_CONFIG_URI": session, "ROS_DOMAIN_ID": str(DOMAIN)}
    said = subprocess.run(
        [*words, "--no-daemon", "diagnostic_msgs/msg/DiagnosticArray"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "openral/sim_bridge: certificate" in said
    assert "cert.pem ends on 20" in said


@pytest.mark.slow
def test_a_bridge_ends_with_its_certificate_and_says_why(keystore, start):
    date_certificate(keystore, "robot", -DAY_S, 25.0)
    process = start()
    _, errors = process.communicate()
    assert process.returncode == 1
    (warned, *_) = [line for line in errors.splitlines() if "[WARN]" in line]
    assert "cert.pem ends on" in warned
    assert "cert.pem ended on" in errors
    assert "not even to stop it" in errors
    assert "Traceback" not in errors
