"""Where the console listens, and what that demands."""

from __future__ import annotations

import hmac
import stat
from dataclasses import dataclass
from pathlib import Path

from openral_core.errors import InstallationError, UsageError
from openral_core.loopback import is_loopback

DEFAULT_PORT = 8420
MIN_PASSWORD = 12
"""Characters; a shorter one could be guessed."""


@dataclass(frozen=True)
class ListenOptions:
    """An address with what protects it."""

    address: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    """0: a free one."""
    stop_port: int = 0
    """Of the process that serves the stop; 0: a free one."""
    certificate: Path | None = None
    """PEM of the server's certificate, with its chain."""
    key: Path | None = None
    """PEM of its private key."""
    passwords: Path | None = None
    """File with a line `name:password` for each operator, readable by its owner alone."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.address)

    @property
    def scheme(self) -> str:
        """http or https."""
        return "https" if self.certificate else "http"

    def check(self) -> None:
        """See that whoever reaches the address must know something, and that nobody can listen on the way.

        Raises:
            UsageError: a protection is missing; the text names it.
            InstallationError: a file is.
        """
        if bool(self.certificate) != bool(self.key):
            raise UsageError("--certificate and --key belong together; name both, or neither")
        if not self.loopback and not (self.certificate and self.passwords):
            raise UsageError(
                f"--address {self.address} can be reached from other machines: name --certificate, --key and "
                "--passwords, or stay on 127.0.0.1 and use ssh -L"
            )
        for option, path in (("--certificate", self.certificate), ("--key", self.key)):
            if path is not None and not path.is_file():
                raise InstallationError(f"{option} {path}: no such file")


def read_passwords(path: Path) -> dict[str, str]:
    """Return password by name.

    Raises:
        InstallationError: others can read the file, or a line is none; the text names it.
    """
    try:
        mode, lines = path.stat().st_mode, path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InstallationError(f"--passwords {path}: {error}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InstallationError(f"--passwords {path}: others can read it; chmod 600 {path}")
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        name, colon, password = line.partition(":")
        if not line.strip():
            continue
        if not colon or not name.isprintable() or not name.strip() or len(password) < MIN_PASSWORD:
            raise InstallationError(
                f"--passwords {path}:{number}: write name:password, the password of {MIN_PASSWORD} characters at least"
            )
        found[name.strip()] = password
    if not found:
        raise InstallationError(f"--passwords {path}: nobody is in it; write a line name:password")
    return found


def is_password(passwords: dict[str, str], name: str, given: str) -> bool:
    """Whether a password is the one of a name; as slow for a name that nobody has."""
    same = hmac.compare_digest(passwords.get(name, "").encode(), given.encode())
    return same and name in passwords
