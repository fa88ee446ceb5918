"""Address of the console, and the protection that it requires."""

from __future__ import annotations

import hmac
import ssl
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from openral_core.errors import InstallationError, UsageError
from openral_core.loopback import is_loopback

DEFAULT_PORT = 8420
MIN_PASSWORD = 12
"""Least number of characters of a password; a shorter one could be guessed."""


@dataclass(frozen=True)
class ListenOptions:
    """An address with its certificate and passwords."""

    address: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    """Port of the page; 0: a free one."""
    stop_port: int = 0
    """Port of the process that serves the stop; 0: a free one."""
    certificate: Path | None = None
    """PEM of the server's certificate, with its chain."""
    key: Path | None = None
    """PEM of its private key."""
    passwords: Path | None = None
    """File with a line `name:password` for each operator, readable by its owner alone."""
    or_free: bool = False
    """Whether a free port is used if `port` is taken, for example by the console of another deployment."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return is_loopback(self.address)

    @property
    def scheme(self) -> str:
        """http or https."""
        return "https" if self.certificate else "http"

    def check(self) -> None:
        """Check that an address beyond loopback has passwords and encryption.

        Raises:
            UsageError: a protection is missing; the text names it.
            InstallationError: a file is missing or invalid.
        """
        if bool(self.certificate) != bool(self.key):
            raise UsageError("--certificate and --key belong together; name both, or neither")
        if not self.loopback and not (self.certificate and self.passwords):
            raise UsageError(
                f"--address {self.address} can be reached from other machines: name --certificate, --key and "
                "--passwords, or stay on 127.0.0.1 and use ssh -L"
            )
        for option, path in (("--certificate", self.certificate), ("--key", self.key)):
            if path is not None:
                _check_file(option, path)
        if self.certificate and self.key:
            _check_pair(self.certificate, self.key)

    def warning(self) -> str:
        """Return a warning if the certificate has expired or will within thirty days, else an empty text."""
        if self.certificate is None:
            return ""
        try:
            from ros2_embedded.certificate_dates import Certificate
        except ModuleNotFoundError:  # another ROS 2; browsers say it
            return ""
        try:
            end = Certificate.read(self.certificate).end(time.time())
        except ValueError:  # OpenSSL serves it, which reads more forms
            return ""
        return (
            end
            and f"--certificate {self.certificate} {end}; browsers warn of one that has ended, or refuse it"
        )


def _check_file(option: str, path: Path) -> None:
    try:
        is_there = path.is_file()
    except OSError as error:  # as in a folder that this user may not enter
        raise InstallationError(f"{option} {path}: {error.strerror}") from error
    if not is_there:
        raise InstallationError(f"{option} {path}: no such file")


def _check_pair(certificate: Path, key: Path) -> None:
    """Check that certificate and key are valid, fit together, and that not every user can read the key.

    Raises:
        InstallationError: they are not; the text names the file.
    """
    if key.stat().st_mode & stat.S_IRWXO:
        raise InstallationError(f"--key {key}: every user of this machine can read it; chmod 600 {key}")

    def password() -> str:
        raise InstallationError(
            f"--key {key}: it is encrypted; write it in plain, `openssl pkey -in {key} -out …`"
        )

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InstallationError(
                f"--key {key}: it is not the key of --certificate {certificate}"
            ) from error
        raise InstallationError(
            f"--certificate {certificate} and --key {key}: write a certificate, with its chain, and its private key "
            f"in PEM ({error.reason or error})"
        ) from error
    except OSError as error:
        raise InstallationError(f"--certificate {certificate}, --key {key}: {error.strerror}") from error


def read_passwords(path: Path) -> dict[str, str]:
    """Return the passwords by operator's name.

    Raises:
        InstallationError: others can read the file, or a line is malformed; the text names it.
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
        if name.strip() in found:
            raise InstallationError(
                f"--passwords {path}:{number}: {name.strip()} has a password above; leave one"
            )
        found[name.strip()] = password
    if not found:
        raise InstallationError(f"--passwords {path}: nobody is in it; write a line name:password")
    return found


def is_password(passwords: dict[str, str], name: str, given: str) -> bool:
    """Return whether a password is the one of a name; an unknown name takes the same time."""
    same = hmac.compare_digest(passwords.get(name, "").encode(), given.encode())
    return same and name in passwords
