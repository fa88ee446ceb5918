"""A directory with a certificate authority and one enclave, certificate and session file, for each member."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from ros2_embedded.security.access import Policy, access_control

DEFAULT_PORT = 7448
VALID_DAYS = 365
_NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_-]{0,62}$")
_CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class KeystoreError(RuntimeError):
    """A keystore cannot be made or changed; the text names the cause."""


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
    """A host as a subjectAltName entry."""
    try:
        return f"IP:{ip_address(host)}"
    except ValueError:
        return f"DNS:{host}"


def _endpoint(host: str) -> str:
    """`host` or `host:port` as a TLS endpoint."""
    name, colon, port = host.rpartition(":")
    return f"tls/{name}:{port}" if colon else f"tls/{host}:{DEFAULT_PORT}"


class Keystore:
    """Private keys are readable by their owner alone; `ca.key` should not leave the machine it is made on."""

    def __init__(self, directory: Path) -> None:
        """Use a directory; `create` makes the authority."""
        self.directory = directory
        self._ca, self._ca_key = directory / "ca.pem", directory / "ca.key"

    def create(self) -> None:
        """Make the certificate authority.

        Raises:
            KeystoreError: there is one already.
        """
        if self._ca_key.exists():
            raise KeystoreError(f"{self.directory} is a keystore already")
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        subject = ["-subj", "/CN=ros2_embedded keystore", "-days", str(VALID_DAYS)]
        _openssl("req", "-x509", *_CURVE, "-keyout", str(self._ca_key), "-out", str(self._ca), *subject)
        self._ca_key.chmod(0o600)

    def enclave(self, name: str) -> Path:
        """The directory of an enclave."""
        return self.directory / "enclaves" / name

    def enclaves(self) -> list[str]:
        """The names of all enclaves."""
        return sorted(path.parent.name for path in self.directory.glob("enclaves/*/session.json5"))

    def add(self, name: str, listen: Sequence[str] = ("127.0.0.1:0",), connect: Sequence[str] = ()) -> Path:
        """Make an enclave.

        Args:
            name: letters, digits, `_` and `-`; the common name of its certificate.
            listen: addresses `host` or `host:port` of this member.
            connect: addresses of members it connects to; others are found through them.

        Returns:
            The session file, for ZENOH_SESSION_CONFIG_URI.

        Raises:
            KeystoreError: a bad name, no authority, or the enclave exists.
        """
        if not _NAME.match(name):
            raise KeystoreError(f"{name!r} is no enclave name: letters, digits, '_' and '-'")
        if not self._ca_key.exists():
            raise KeystoreError(f"{self.directory} has no certificate authority: create the keystore first")
        place = self.enclave(name)
        if place.exists():
            raise KeystoreError(f"the enclave {name} exists: remove {place} to make it anew")
        place.mkdir(parents=True, mode=0o700)
        self._sign(place, name, [address.rpartition(":")[0] or address for address in listen])
        session = place / "session.json5"
        session.write_text(json.dumps(self._session(place, listen, connect), indent=2), "utf-8")
        return session

    def _sign(self, place: Path, name: str, hosts: list[str]) -> None:
        """Make key and certificate of an enclave."""
        key, request, extensions = place / "key.pem", place / "request.csr", place / "extensions.txt"
        subject = ["-subj", f"/CN={name}"]
        _openssl("req", "-new", *_CURVE, "-keyout", str(key), "-out", str(request), *subject)
        key.chmod(0o600)
        names = ",".join(_alternative_name(host) for host in hosts)
        extensions.write_text(
            f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n",
            "utf-8",
        )
        authority = ["-CA", str(self._ca), "-CAkey", str(self._ca_key), "-CAcreateserial"]
        target = ["-in", str(request), "-out", str(place / "cert.pem"), "-extfile", str(extensions)]
        _openssl("x509", "-req", *target, *authority, "-days", str(VALID_DAYS))
        request.unlink()
        extensions.unlink()

    def _session(self, place: Path, listen: Sequence[str], connect: Sequence[str]) -> dict[str, Any]:
        """The Zenoh configuration of an enclave: TLS in both directions, and nothing but TLS."""
        key, certificate = str((place / "key.pem").resolve()), str((place / "cert.pem").resolve())
        return {
            "mode": "peer",
            "listen": {"endpoints": [_endpoint(host) for host in listen]},
            "connect": {"endpoints": [_endpoint(host) for host in connect], "exit_on_failure": False},
            "scouting": {"delay": 20, "multicast": {"enabled": False}, "gossip": {"enabled": True}},
            "timestamping": {"enabled": True},
            "queries_default_timeout": 600000,
            "transport": {
                "link": {
                    "protocols": ["tls"],
                    "tls": {
                        "root_ca_certificate": str(self._ca.resolve()),
                        "enable_mtls": True,
                        "verify_name_on_connect": True,
                        "listen_private_key": key,
                        "listen_certificate": certificate,
                        "connect_private_key": key,
                        "connect_certificate": certificate,
                    },
                },
            },
        }

    def set_policy(self, policy: Policy) -> None:
        """Write what each enclave may do into all session files.

        Raises:
            KeystoreError: the policy names an enclave that does not exist.
        """
        unknown = sorted(set(policy) - set(self.enclaves()))
        if unknown:
            raise KeystoreError(f"the policy names {', '.join(unknown)}; add these enclaves first")
        for name in self.enclaves():
            path = self.enclave(name) / "session.json5"
            session = json.loads(path.read_text("utf-8"))
            session["access_control"] = access_control(policy)
            path.write_text(json.dumps(session, indent=2), "utf-8")
