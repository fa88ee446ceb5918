"""uv is told what pip was told, in every way in which pip can be told."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from openral_sidecar.environment.pip_settings import configuration_files, uv_settings


def by_pip(environ: dict[str, str]) -> dict[str, str]:
    """Return what pip itself would use for `pip install`, by option."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    lines = subprocess.run(
        command, env=environ, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    values: dict[str, str] = {}
    for section in ("global.", "install.", ":env:."):
        for line in lines:
            key, _, value = line.partition("=")
            if key.startswith(section) and (text := ast.literal_eval(value)):
                values[key.removeprefix(section)] = text
    return values


def configuration(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


LAYOUTS: dict[str, Callable[[Path, dict[str, str]], None]] = {
    "nothing": lambda home, env: None,
    "environment": lambda home, env: env.update(PIP_FIND_LINKS="/a /b", PIP_INDEX_URL="http://127.0.0.1:1/s"),
    "an empty variable": lambda home, env: env.update(PIP_FIND_LINKS=""),
    "user": lambda home, env: configuration(
        home / ".config/pip/pip.conf", "[global]\nfind-links = /a\n  /b\nindex-url=http://u\n"
    ),
    "the old place of the user": lambda home, env: configuration(
        home / ".pip/pip.conf", "[global]\nfind_links = /old\n"
    ),
    "both places of the user": lambda home, env: (
        configuration(home / ".pip/pip.conf", "[global]\nfind-links = /old\ntrusted-host = a b\n"),
        configuration(home / ".config/pip/pip.conf", "[global]\nfind-links = /new\n"),
    )[0],
    "of install only": lambda home, env: configuration(
        home / ".config/pip/pip.conf", "[global]\nfind-links = /g\n[install]\nfind-links = /i\n"
    ),
    "of another command": lambda home, env: configuration(
        home / ".config/pip/pip.conf", "[download]\nfind-links = /d\n"
    ),
    "a file of all users": lambda home, env: (
        env.update(XDG_CONFIG_DIRS=str(home / "xdg")),
        configuration(home / "xdg/pip/pip.conf", "[global]\nfind-links = /shared\nproxy = http://p:3128\n"),
    )[1],
    "a named file, before the user's": lambda home, env: (
        env.update(PIP_CONFIG_FILE=str(home / "mine.conf")),
        configuration(home / "mine.conf", "[global]\nfind-links = /named\n"),
        configuration(home / ".config/pip/pip.conf", "[global]\nfind-links = /user\ncert = /c.pem\n"),
    )[1],
    "a named file that is not there": lambda home, env: (
        env.update(PIP_CONFIG_FILE=str(home / "none.conf")),
        configuration(home / ".config/pip/pip.conf", "[global]\nfind-links = /user\n"),
    )[1],
    "no file at all": lambda home, env: (
        env.update(PIP_CONFIG_FILE=os.devnull),
        configuration(home / ".config/pip/pip.conf", "[global]\nfind-links = /user\n"),
    )[1],
}


ALWAYS = ("environment", "both places of the user", "of install only", "a named file, before the user's")


@pytest.mark.parametrize(
    "layout",
    [layout if layout in ALWAYS else pytest.param(layout, marks=pytest.mark.slow) for layout in LAYOUTS],
)
def test_settings_are_those_that_pip_itself_reads(layout: str, tmp_path: Path) -> None:
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "UV_", "XDG_", "SSL_", "ALL_", "HTTPS_", "https_", "all_"))
    }
    environ["HOME"] = str(tmp_path)
    LAYOUTS[layout](tmp_path, environ)
    told, found = by_pip(environ), uv_settings(environ)
    assert found.get("UV_FIND_LINKS", "").split(",") == (told.get("find-links", "").split() or [""])
    assert found.get("UV_DEFAULT_INDEX") == told.get("index-url")
    assert found.get("SSL_CERT_FILE") == told.get("cert")
    assert found.get("ALL_PROXY") == told.get("proxy")
    assert found.get("UV_INSECURE_HOST") == told.get("trusted-host")


def test_the_file_of_one_python_counts_also_below_a_virtual_environment(tmp_path: Path) -> None:
    configuration(tmp_path / "base/pip.conf", "[global]\nfind-links = /base\ncert = /c\n")
    configuration(tmp_path / "venv/pip.conf", "[global]\nfind-links = /venv\n")
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path)}
    prefixes = (str(tmp_path / "base"), str(tmp_path / "venv"))
    found = uv_settings(environ, prefixes)
    assert found["UV_FIND_LINKS"] == "/venv"
    assert configuration_files(environ, prefixes)[-2:] == [
        tmp_path / "base/pip.conf",
        tmp_path / "venv/pip.conf",
    ]


def test_what_uv_was_told_itself_comes_first(tmp_path: Path) -> None:
    environ = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "/pip",
        "PIP_INDEX_URL": "http://pip",
        "UV_FIND_LINKS": "/uv",
        "UV_INDEX_URL": "http://uv",
    }
    assert uv_settings(environ) == {}


def test_a_file_that_is_no_configuration_is_left_to_pip(tmp_path: Path) -> None:
    configuration(tmp_path / ".config/pip/pip.conf", "find-links = /a\n")
    assert "UV_FIND_LINKS" not in uv_settings({"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path)}, ())
