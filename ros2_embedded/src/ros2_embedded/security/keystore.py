"""A directory with a certificate authority and one enclave, certificate and session file, for each member."""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import zenoh

from ros2_embedded.certificate_dates import Certificate, CertificateError
from ros2_embedded.security.access import Policy, access_control
from ros2_embedded.security.certificates import Authority
from ros2_embedded.security.errors import KeystoreError

DEFAULT_PORT = 7448
VALID_DAYS = 365
AUTHORITY_DAYS = 20 * 365
"""Validity of the authority's certificate, which cannot be renewed and must outlast those of all members."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
_HOST = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
_LIKE_IPV4 = re.compile(r"[0-9.]+")


class Keystore:
    """A keystore. Private keys and passwords are readable by their owner only; `ca.key` is never copied.

    With passwords, a member that connects authenticates itself by name and password, and the one to which it
    connects by a certificate. Without them, both do so by certificates.
    """

    def __init__(self, directory: Path) -> None:
        """Use a directory; `create` makes the authority."""
        self.directory = directory
        self._authority = Authority(directory)
        self._users = directory / "users.txt"
        self._policy = directory / "policy.json"

    def create(self, *, passwords: bool = False) -> None:
        """Make the certificate authority.

        Args:
            passwords: whether members authenticate themselves by passwords.

        Raises:
            KeystoreError: the authority exists already.
        """
        if self._authority.exists:
            raise KeystoreError(f"{self.directory} is a keystore already")
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._authority.create(AUTHORITY_DAYS)
        if passwords:
            self._write_users({})

    @property
    def exists(self) -> bool:
        """Whether there is a certificate authority."""
        return self._authority.exists

    def enclave(self, name: str) -> Path:
        """Return the directory of an enclave."""
        return self.directory / "enclaves" / name

    def enclaves(self) -> list[str]:
        """Return the names of all enclaves."""
        return sorted(path.parent.name for path in self.directory.glob("enclaves/*/session.json5"))

    def add(
        self,
        name: str,
        listen: Sequence[str] = ("127.0.0.1:0",),
        connect: Sequence[str] = (),
        *,
        days: int = VALID_DAYS,
    ) -> Path:
        """Make an enclave.

        Args:
            name: letters, digits, `_` and `-`; the common name of its certificate, and its user name.
            listen: addresses `host` or `host:port` of this member; without a port it gets the first one from
                7448 on that no other member has on that host.
            connect: addresses of members to which it connects, without a port all those of that host; others
                are discovered through them.
            days: duration of its certificate's validity; links end when it expires.

        Returns:
            The session file, for ZENOH_SESSION_CONFIG_URI.

        Raises:
            KeystoreError: the name or number is invalid, there is no authority, the enclave exists, or an
                address belongs to another member.
        """
        if not _NAME.fullmatch(name):
            raise KeystoreError(f"{name!r} is no enclave name: letters, digits, '_' and '-'")
        if not self._authority.exists:
            raise KeystoreError(f"{self.directory} has no certificate authority: create the keystore first")
        place = self.enclave(name)
        if place.exists():
            raise KeystoreError(f"the enclave {name} exists: remove {place} to make it anew")
        for address in (*listen, *connect):
            _check_address(address)
        endpoints = [self._listen_endpoint(address) for address in listen]
        targets = [endpoint for address in connect for endpoint in self._connect_endpoints(address)]
        place.mkdir(parents=True, mode=0o700)
        try:
            self._authority.sign(place, name, [_host(address) for address in listen], days)
            if self._users.exists():
                self._write_users({**self._read_users(), name: secrets.token_urlsafe(24)})
            session = place / "session.json5"
            _write_private(session, json.dumps(self._session(place, endpoints, targets), indent=2))
        except (KeystoreError, OSError):
            shutil.rmtree(place, ignore_errors=True)  # an incomplete enclave would prevent the next attempt
            raise
        return session

    def renew(self, name: str, days: int = VALID_DAYS) -> None:
        """Make a new certificate for an enclave, from its key; sessions read it when they open.

        Raises:
            KeystoreError: the enclave does not exist, or the number of days is invalid.
        """
        self._authority.renew(self._existing(name), days)

    def remove(self, name: str) -> str:
        """Remove an enclave, and its password if members have passwords; return what its holder can still do.

        Its certificate stays valid until it expires. A password is refused by sessions that open afterwards.

        Raises:
            KeystoreError: the enclave does not exist.
        """
        place = self._existing(name)
        try:
            until = f"until {Certificate.read(place / 'cert.pem').until}"
        except CertificateError:
            until = "until its certificate ends"
        shutil.rmtree(place)
        if self._users.exists():
            self._write_users({user: word for user, word in self._read_users().items() if user != name})
            return f"{name} is removed: sessions that open from now on refuse its password"
        return (
            f"{name} is removed here, but not shut out: whoever has a copy of its key and certificate joins "
            f"{until}. To shut it out, make a new keystore for the others; to let members go, give them "
            "certificates of a few days, or create --passwords"
        )

    def _existing(self, name: str) -> Path:
        if name not in self.enclaves():
            raise KeystoreError(f"no enclave {name}; there are {', '.join(self.enclaves()) or 'none'}")
        return self.enclave(name)

    def _taken(self) -> list[str]:
        """Return the endpoints with a fixed port on which members listen."""
        found: list[str] = []
        for name in self.enclaves():
            path = self.enclave(name) / "session.json5"
            listen = _read_object(path).get("listen")
            endpoints = listen.get("endpoints") if isinstance(listen, dict) else None
            if not isinstance(endpoints, list):
                raise KeystoreError(f"{path} has no list of endpoints to listen on; make the enclave anew")
            found += [endpoint for endpoint in endpoints if not _is_any(str(endpoint))]
        return found

    def _listen_endpoint(self, address: str) -> str:
        taken = self._taken()
        if _port(address):
            endpoint = f"tls/{_host(address)}:{_port(address)}"
            if endpoint in taken:
                raise KeystoreError(f"another enclave listens on {address}: give this one another port")
            return endpoint
        candidates = (f"tls/{address}:{port}" for port in range(DEFAULT_PORT, 1 << 16))
        return next(endpoint for endpoint in candidates if endpoint not in taken)

    def _connect_endpoints(self, address: str) -> list[str]:
        if _port(address):
            return [f"tls/{_host(address)}:{_port(address)}"]
        same_host = [endpoint for endpoint in sorted(self._taken()) if endpoint.startswith(f"tls/{address}:")]
        return same_host or [f"tls/{address}:{DEFAULT_PORT}"]

    def _read_users(self) -> dict[str, str]:
        lines = (line.partition(":") for line in self._users.read_text("utf-8").splitlines() if line)
        return {user: password for user, _, password in lines}

    def _write_users(self, users: dict[str, str]) -> None:
        _write_private(self._users, "".join(f"{user}:{password}\n" for user, password in users.items()))

    def _session(self, place: Path, listen: Sequence[str], connect: Sequence[str]) -> dict[str, Any]:
        """Return the Zenoh configuration of an enclave, which allows only TLS in both directions."""
        key, certificate = str((place / "key.pem").resolve()), str((place / "cert.pem").resolve())
        with_passwords = self._users.exists()
        fixed = [endpoint for endpoint in listen if not _is_any(endpoint)]
        others = [f"{endpoint.rpartition(':')[0]}:0" for endpoint in fixed]
        tls = {
            "root_ca_certificate": str(self._authority.certificate.resolve()),
            "enable_mtls": not with_passwords,
            "verify_name_on_connect": True,
            "close_link_on_expiration": True,
            "listen_private_key": key,
            "listen_certificate": certificate,
        }
        if not with_passwords:
            tls |= {"connect_private_key": key, "connect_certificate": certificate}
        transport: dict[str, Any] = {"link": {"protocols": ["tls"], "tls": tls}}
        if with_passwords:
            transport["auth"] = {
                "usrpwd": {
                    "user": place.name,
                    "password": self._read_users()[place.name],
                    "dictionary_file": str(self._users.resolve()),
                }
            }
        return {
            "mode": "peer",
            # The first process of an enclave listens on its address. Others on the same machine find that in
            # use, listen on any free port, and are discovered through the first one.
            "listen": {"endpoints": [*listen, *others], "exit_on_failure": False, "timeout_ms": 0},
            "connect": {
                "endpoints": [*connect, *fixed],
                "exit_on_failure": False,
            },
            "scouting": {"delay": 20, "multicast": {"enabled": False}, "gossip": {"enabled": True}},
            "timestamping": {"enabled": True},
            "queries_default_timeout": 600000,
            "transport": transport,
        }

    def set_policy(self, policy: Policy) -> None:
        """Write the rights of all enclaves into all session files, after each one was opened as a test.

        Raises:
            KeystoreError: the policy names an enclave that does not exist, or Zenoh refuses a session file.
            PolicyError: a name of the policy is invalid.
        """
        unknown = sorted(set(policy) - set(self.enclaves()))
        if unknown:
            raise KeystoreError(f"the policy names {', '.join(unknown)}; add these enclaves first")
        sessions: dict[Path, str] = {}
        for name in self.enclaves():
            path = self.enclave(name) / "session.json5"
            session = _read_object(path)
            session["access_control"] = access_control(policy)
            _try_to_open(path, session)
            sessions[path] = json.dumps(session, indent=2)
        for path, text in sessions.items():
            _write_private(path, text)
        _write_private(self._policy, json.dumps(policy, indent=2))

    def policy(self) -> Policy:
        """Return the rights that were set last; empty where none were."""
        if not self._policy.exists():
            return {}
        known = self.enclaves()
        saved: Policy = _read_object(self._policy)
        return {name: rights for name, rights in saved.items() if name in known}


def _read_object(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file.

    Raises:
        KeystoreError: it is none, such as after an edit that added comments.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise KeystoreError(f"{path} must be JSON, without comments: {error}") from error
    if not isinstance(content, dict):
        raise KeystoreError(f"{path} must be a JSON object")
    return content


def _try_to_open(path: Path, session: dict[str, Any]) -> None:
    """Open a session with the configuration of a file, but without its addresses.

    Raises:
        KeystoreError: Zenoh refuses the configuration.
    """
    alone = {**session, "listen": {"endpoints": ["tls/127.0.0.1:0"]}, "connect": {"endpoints": []}}
    try:
        zenoh.open(zenoh.Config.from_json5(json.dumps(alone))).close()
    except zenoh.ZError as error:
        raise KeystoreError(f"no session can be opened with {path}: {error}; nothing was changed") from error


def _check_address(address: str) -> None:
    """Check that an address is well-formed.

    Raises:
        KeystoreError: it is not `host` or `host:port`.
    """
    host, port = _host(address).strip("[]"), _port(address)
    try:
        ip_address(host)
        named = True
    except ValueError:
        named = bool(_HOST.fullmatch(host)) and not _LIKE_IPV4.fullmatch(host)
    if not named or (port and not (port.isascii() and port.isdigit() and int(port) < 1 << 16)):
        raise KeystoreError(
            f"{address!r} is no address: write a host, or host:port with a port from 0 to 65535, such as "
            "192.168.1.5, robot.local:7448 or [fe80::1]:7448"
        )


def _port(address: str) -> str:
    """Return the port of `host:port`, or empty; IPv6 hosts with a port are in brackets."""
    head, colon, port = address.rpartition(":")
    return port if colon and (":" not in head or head.endswith("]")) else ""


def _host(address: str) -> str:
    port = _port(address)
    return address[: -len(port) - 1] if port else address


def _is_any(endpoint: str) -> bool:
    return endpoint.endswith(":0")


def _write_private(path: Path, text: str) -> None:
    """Replace a file atomically by one that only its owner may read."""
    partial = path.with_suffix(".partial")
    partial.touch(mode=0o600)
    partial.chmod(0o600)
    partial.write_text(text, "utf-8")
    partial.replace(path)
