"""A session says when its certificate ends, opens with none that is not valid, and knows who refuses it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ros2_embedded.certificate_dates import Certificate, CertificateError
from ros2_embedded.router import main as router
from ros2_embedded.security import Keystore
from ros2_embedded.security.tls_diagnosis import refusals

sys.path.insert(0, str(Path(__file__).parent))
from dated_certificate import date_certificate
from test_keystore import free_port

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
DAY_S = 86400.0
SPIN = """
import sys, rclpy
with rclpy.init() as context:
    node = rclpy.create_node("robot", context=context)
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def keystore(tmp_path: Path) -> Keystore:
    keystore = Keystore(tmp_path / "keystore")
    keystore.create()
    keystore.add("robot", [f"127.0.0.1:{free_port()}"])
    keystore.add("operator", connect=["127.0.0.1"])
    return keystore


def session(keystore: Keystore, name: str) -> dict[str, str]:
    return {"ZENOH_SESSION_CONFIG_URI": str(keystore.enclave(name) / "session.json5")}


def topics(keystore: Keystore, name: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "ros2cli.cli", "topic", "list", "--no-daemon"]
    environment = {**os.environ, **session(keystore, name)}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


def robot(keystore: Keystore) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SPIN],
        env={**os.environ, **session(keystore, "robot")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_authority_outlasts_certificates_that_are_renewed_for_years(keystore: Keystore) -> None:
    authority = Certificate.read(keystore.directory / "ca.pem")
    assert authority.ends_s - authority.begins_s > 15 * 365 * DAY_S


def test_the_dates_are_those_that_openssl_reads(keystore: Keystore) -> None:
    path = keystore.enclave("robot") / "cert.pem"
    words = ["openssl", "x509", "-in", str(path), "-noout", "-enddate", "-dateopt", "iso_8601"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    certificate = Certificate.read(path)
    assert said == f"notAfter={certificate.until.removesuffix(' UTC')}Z\n"
    assert certificate.ends_s - certificate.begins_s == 365 * DAY_S
    path.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(CertificateError, match=r"it is no X\.509 certificate"):
        Certificate.read(path)


@pytest.mark.parametrize(
    ("begins_s", "ends_s", "code", "words"),
    [
        (-2 * DAY_S, -DAY_S, 1, "ended on 20"),
        (DAY_S, 2 * DAY_S, 1, "set the clock"),
        (-DAY_S, 3.5 * DAY_S, 0, "UTC, in 3 days"),
    ],
)
def test_a_command_says_what_is_wrong_with_its_certificate(
    keystore: Keystore, begins_s: float, ends_s: float, code: int, words: str
) -> None:
    date_certificate(keystore, "operator", begins_s, ends_s)
    done = topics(keystore, "operator")
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert words in done.stderr
    assert str(keystore.enclave("operator") / "cert.pem") in done.stderr
    if ends_s < 30 * DAY_S and begins_s < 0:
        assert f"security renew {keystore.directory} operator" in done.stderr


@pytest.mark.parametrize(
    ("begins_s", "ends_s", "words"),
    [(-2 * DAY_S, -DAY_S, "ended on 20"), (DAY_S, 2 * DAY_S, "set the clock")],
)
def test_a_router_says_what_is_wrong_with_its_certificate(
    keystore: Keystore, capsys: pytest.CaptureFixture[str], begins_s: float, ends_s: float, words: str
) -> None:
    date_certificate(keystore, "robot", begins_s, ends_s)
    assert router(["--config", str(keystore.enclave("robot") / "session.json5")]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert str(keystore.enclave("robot") / "cert.pem") in said


def test_a_certificate_with_months_to_go_is_not_talked_about(keystore: Keystore) -> None:
    done = topics(keystore, "operator")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_running_session_says_that_its_certificate_has_ended(keystore: Keystore) -> None:
    date_certificate(keystore, "robot", -DAY_S, 15.0)
    process = robot(keystore)
    assert process.stdout.readline() == "open\n"
    said = [process.stderr.readline() for _ in range(2)]
    process.communicate()
    assert "cert.pem ends on" in said[0]
    assert "cert.pem ended on" in said[1]


@pytest.mark.parametrize("kind", ["foreign", "nobody", "member"])
def test_who_finds_nobody_is_told_who_refuses_it(keystore: Keystore, tmp_path: Path, kind: str) -> None:
    process = None if kind == "nobody" else robot(keystore)
    if process is not None:
        assert process.stdout.readline() == "open\n"
    if kind == "foreign":
        foreign = Keystore(tmp_path / "foreign")
        foreign.create()
        foreign.add("operator")
        for file in ("cert.pem", "key.pem"):
            shutil.copy(foreign.enclave("operator") / file, keystore.enclave("operator") / file)
    found = refusals(session(keystore, "operator"))
    if process is not None:
        process.communicate()
    words = {"foreign": ["another authority"], "nobody": ["nobody listens there"], "member": []}[kind]
    assert len(found) == len(words)
    assert all(word in fault for word, fault in zip(words, found, strict=True)), found


def test_a_session_file_that_is_missing_is_one_line(tmp_path: Path) -> None:
    environment = {**os.environ, "ZENOH_SESSION_CONFIG_URI": str(tmp_path / "nowhere.json5")}
    words = [sys.executable, "-m", "ros2cli.cli", "topic", "list", "--no-daemon"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"ZENOH_SESSION_CONFIG_URI={tmp_path}/nowhere.json5: no such file\n"
