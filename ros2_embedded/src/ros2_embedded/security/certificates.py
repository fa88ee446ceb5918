"""Certificates of an authority and of the members that it signs, made by the program openssl."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

from ros2_embedded.security.errors import KeystoreError

_CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Authority:
    """A certificate authority: `ca.pem` is public, and `ca.key` signs the certificates of members."""

    def __init__(self, directory: Path) -> None:
        """Use a directory, which may have an authority already."""
        self.certificate, self._key = directory / "ca.pem", directory / "ca.key"

    @property
    def exists(self) -> bool:
        """Whether the directory has an authority."""
        return self._key.exists()

    def create(self, days: int) -> None:
        """Make the authority, valid for a number of days.

        Raises:
            KeystoreError: openssl is not installed, or failed.
        """
        subject = ["-subj", "/CN=ros2_embedded keystore", "-days", str(days)]
        _openssl("req", "-x509", *_CURVE, "-keyout", str(self._key), "-out", str(self.certificate), *subject)
        self._key.chmod(0o600)

    def sign(self, place: Path, name: str, hosts: Sequence[str], days: int) -> None:
        """Make `key.pem` and `cert.pem` of a member in a directory.

        Args:
            place: the directory.
            name: common name.
            hosts: addresses for which the certificate is valid.
            days: duration of its validity, at least 1.

        Raises:
            KeystoreError: openssl is not installed, or failed.
        """
        key, extensions = place / "key.pem", place / "extensions.txt"
        names = ",".join(_alternative_name(host) for host in hosts)
        extensions.write_text(
            f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n",
            "utf-8",
        )
        _openssl(
            "req",
            "-new",
            *_CURVE,
            "-keyout",
            str(key),
            "-out",
            str(place / "request.csr"),
            "-subj",
            f"/CN={name}",
        )
        key.chmod(0o600)
        self.renew(place, days)

    def renew(self, place: Path, days: int) -> None:
        """Sign the certificate request of a member again, for a number of days.

        Raises:
            KeystoreError: the number is below 1, or openssl failed.
        """
        if days < 1:
            raise KeystoreError(f"a certificate is valid for at least one day, not {days}")
        authority = ["-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial"]
        request = ["-in", str(place / "request.csr"), "-extfile", str(place / "extensions.txt")]
        _openssl("x509", "-req", *request, "-out", str(place / "cert.pem"), *authority, "-days", str(days))


def _openssl(*arguments: str) -> None:
    """Run openssl.

    Raises:
        KeystoreError: it is not installed, or it failed.
    """
    try:
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise KeystoreError("the program openssl is needed to make certificates: install openssl") from error
    if done.returncode:
        raise KeystoreError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")


def _alternative_name(host: str) -> str:
    """Return a host as a subjectAltName entry."""
    try:
        return f"IP:{ip_address(host.strip('[]'))}"
    except ValueError:
        return f"DNS:{host}"
