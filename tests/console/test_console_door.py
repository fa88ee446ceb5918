"""The door of a console that other machines reach, in a real browser: TLS, name and password, a stop in vain."""

from __future__ import annotations

import re
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from console_browser import until_text
from system_stack import Stack, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PASSWORD = "correct horse battery"
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def door(browser: Browser, tmp_path: Path) -> Stack:
    """A console on all addresses, and no deployment."""
    certificate, key, passwords = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "passwords"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=robot"]
    subprocess.run([*words, "-out", str(certificate), "-keyout", str(key)], check=True, capture_output=True)
    passwords.write_text(f"anna:{PASSWORD}\n")
    passwords.chmod(0o600)
    options = ["--address", "0.0.0.0", "--port", "0", "--certificate", str(certificate), "--key", str(key)]
    return Stack(tmp_path, "openral", "console", *options, "--passwords", str(passwords))


def test_an_operator_signs_in_and_is_told_that_nothing_was_stopped(browser: Browser, door: Stack) -> None:
    with door:
        wait_for(lambda: "openral console: https" in door.output, lambda: door.output)
        port = re.search(rf"openral console: https://{re.escape(socket.gethostname())}:(\d+)/", door.output)[
            1
        ]
        context = browser.new_context(ignore_https_errors=True)
        page = context.new_page()
        page.goto(f"https://127.0.0.1:{port}/")
        page.fill("[name=name]", "anna")
        page.fill("[name=password]", "wrong")
        page.click("button")
        until_text(page, "#words", "Name or password is wrong.")
        page.fill("[name=name]", "anna")
        page.fill("[name=password]", PASSWORD)
        page.click("button")
        until_text(page, "#state", "No bridge is heard")
        until_text(page, ".c-who", "anna")
        page.keyboard.press("Space")
        until_text(page, "#alarm", "NOT stopped. Use the hardware stop.")
        until_text(page, "#alarm", "no bridge is in the graph")
        context.close()
        door.interrupt()
        assert door.wait() == 0  # and the process behind the stop has ended, too
        assert door.errors == []
