"""Translates pip's settings on this machine to environment variables of `uv`, which does not read them.

This module needs only the standard library, as `make` uses it before anything is installed.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLES = {
    "find-links": ("UV_FIND_LINKS", ","),
    "index-url": ("UV_DEFAULT_INDEX", None),
    "cert": ("SSL_CERT_FILE", None),
    "proxy": ("ALL_PROXY", None),
    "trusted-host": ("UV_INSECURE_HOST", " "),
}
"""pip's option -> (uv's variable, separator of several values; None: there is one value)."""
ALSO_NAMED = {"UV_DEFAULT_INDEX": ("UV_INDEX_URL",), "ALL_PROXY": ("HTTPS_PROXY", "https_proxy", "all_proxy")}
"""Other variables with the same meaning; if one is set, pip's setting is not used."""


def uv_settings(environ: Mapping[str, str], prefixes: tuple[str, ...] | None = None) -> dict[str, str]:
    """Return the variables of uv for those of pip's settings that uv has no own setting for.

    Args:
        environ: environment variables of the process; those that uv reads take precedence over pip's settings.
        prefixes: folders with a `pip.conf` for one Python; default: those of this interpreter and of the one that its
            virtual environment was made from.
    """
    if prefixes is None:
        prefixes = (sys.base_prefix, sys.prefix)
    settings: dict[str, str] = {}
    for file in configuration_files(environ, prefixes):
        settings.update(_read(file, "global"))
    for file in configuration_files(environ, prefixes):
        settings.update(_read(file, "install"))
    for option in VARIABLES:
        if value := environ.get("PIP_" + option.upper().replace("-", "_")):
            settings[option] = value
    found: dict[str, str] = {}
    for option, (variable, separator) in VARIABLES.items():
        words = settings.get(option, "").split()
        if words and not any(environ.get(name) for name in (variable, *ALSO_NAMED.get(variable, ()))):
            found[variable] = words[0] if separator is None else separator.join(words)
    return found


def configuration_files(environ: Mapping[str, str], prefixes: tuple[str, ...]) -> list[Path]:
    """Return the configuration files that pip reads, whether or not they exist; later ones take precedence."""
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return []
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        shared = [Path("/Library/Application Support/pip/pip.conf")]
        support = home / "Library" / "Application Support" / "pip"
        user = (support if support.is_dir() else home / ".config" / "pip") / "pip.conf"
    else:
        folders = (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)
        shared = [*(Path(folder) / "pip" / "pip.conf" for folder in folders if folder), Path("/etc/pip.conf")]
        user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"
    files = shared
    if not (named and Path(named).exists()):
        files += [home / ".pip" / "pip.conf", user]
    files += [Path(prefix) / "pip.conf" for prefix in dict.fromkeys(prefixes)]
    return [*files, Path(named)] if named else files


def _read(file: Path, section: str) -> dict[str, str]:
    """Return the options of one section that have a value; empty: the file cannot be read."""
    parser = configparser.RawConfigParser()
    try:
        parser.read(file, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return {}  # pip itself reports the error
    options = parser.items(section) if parser.has_section(section) else []
    return {name.lstrip("-").replace("_", "-"): value for name, value in options if value}
