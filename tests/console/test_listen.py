"""Where a console listens, and what is said of an address, a port or a file with which it cannot."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from openral_console.listen_options import ListenOptions
from openral_console.sessions import Sessions
from openral_core.errors import InstallationError

pytest.importorskip("nicegui", reason="pip install 'openral[console]'")

from starlette.applications import Starlette

from openral_console.http_listener import listen, serve_on, server_config, url_of


def test_a_console_beside_another_one_takes_a_free_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InstallationError, match=f"--port {port} on 127.0.0.1: Address already in use"):
            listen(ListenOptions(port=port), port, "--port")
        with listen(ListenOptions(port=port, or_free=True), port, "--port") as other:
            assert other.getsockname()[1] != port


def test_a_server_that_was_told_to_end_before_it_had_handlers_ends() -> None:
    with listen(ListenOptions(), 0, "--port") as listening:
        serve_on(Starlette(), listening, ListenOptions(), lambda: True)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_number_that_is_no_port_is_told_in_one_line(port: int) -> None:
    """The node's parameters are not checked by the command line."""
    with pytest.raises(InstallationError, match=f"--port {port} on 127.0.0.1: a port is 0 to 65535"):
        listen(ListenOptions(port=port), port, "--port")


def test_the_address_of_all_addresses_is_the_name_of_the_machine() -> None:
    options = ListenOptions(address="0.0.0.0", certificate=Path("c"), key=Path("k"), passwords=Path("p"))
    assert url_of(options, Sessions.create()) == f"https://{socket.gethostname()}:8420/"


@pytest.mark.parametrize(
    "address", ["a..b", "192.0.2.1", "\u00e9" * 70], ids=["no name", "elsewhere", "no letters"]
)
def test_an_address_that_is_none_of_this_machine_is_named_and_not_its_port(address: str) -> None:
    with pytest.raises(InstallationError, match=f"--address {address}: .*; name one of this machine"):
        listen(ListenOptions(address=address), 0, "--port")


def test_a_file_that_cannot_be_looked_at_is_named() -> None:
    """As one in a folder that this user may not enter."""
    with pytest.raises(InstallationError, match=r"--certificate x+: File name too long"):
        ListenOptions(certificate=Path("x" * 300), key=Path("key.pem")).check()


def test_a_client_does_not_say_itself_from_where_it_comes() -> None:
    """Guesses of passwords from one machine wait for each other."""
    clients: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        clients.append(scope["client"])

    config = server_config(app, None, None)
    config.load()
    headers = [(b"x-forwarded-for", b"10.0.0.1")]
    scope: Any = {"type": "http", "client": ("127.0.0.1", 1), "headers": headers}
    asyncio.run(config.loaded_app(scope, None, None))  # type: ignore[arg-type]
    assert clients == [("127.0.0.1", 1)]


def test_a_certificate_in_a_form_that_openssl_alone_reads_is_served_without_a_warning(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate")
    plain, key, trusted = (tmp_path / name for name in ("plain.pem", "key.pem", "trusted.pem"))
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    words = [
        "req",
        "-x509",
        *curve,
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=robot",
        "-keyout",
        key,
        "-out",
        plain,
    ]
    for command in (words, ["x509", "-in", plain, "-trustout", "-out", trusted]):
        subprocess.run([openssl, *command], check=True, capture_output=True)
    options = ListenOptions(certificate=trusted, key=key)
    options.check()
    assert options.warning() == ""
