"""Validity periods of a session's certificates, and the warnings about their end.

A session reads its certificate when it opens, and a link over TLS ends when the certificate of either side
expires. So a session whose certificate is not valid is not opened. One that expires soon is logged when the
session opens, several times before its end, and at its end.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from threading import Event, Thread

import zenoh

SOON_S = 30 * 86400.0
"""[s] before the end of a certificate from which on warnings are given."""
_AGAIN_S = (7 * 86400.0, 86400.0, 3600.0, 600.0, 60.0, 0.0)
"""[s] before the end at which a warning is logged again."""
_LOOK_S = 1.0
"""[s] between two readings of the clock, which may be set at any time."""
_TLS = "transport/link/tls"
_logger = logging.getLogger("ros2_embedded.session")


class CertificateError(ValueError):
    """A certificate of the session cannot be read or is not valid now; the text names file and fix."""


@dataclass(frozen=True)
class Certificate:
    """The validity period of a certificate in a file."""

    path: Path
    begins_s: float
    """[s] since 1970."""
    ends_s: float
    """[s] since 1970."""

    @staticmethod
    def read(path: Path) -> Certificate:
        """Read the first certificate of a PEM file.

        Raises:
            CertificateError: the file does not exist, or has no certificate.
        """
        from cryptography.x509 import load_pem_x509_certificate  # only where a session speaks TLS

        try:
            read = load_pem_x509_certificate(path.read_bytes())
        except OSError as error:
            raise CertificateError(f"certificate {path}: {error.strerror}") from error
        except ValueError as error:
            raise CertificateError(f"certificate {path}: it is no X.509 certificate in PEM") from error
        return Certificate(path, read.not_valid_before_utc.timestamp(), read.not_valid_after_utc.timestamp())

    @property
    def until(self) -> str:
        """Date of its end, for people."""
        return _date(self.ends_s)

    def end(self, now_s: float) -> str:
        """Return `ended on …`, or `ends on …` within `SOON_S` before the end; else an empty text."""
        left_s = self.ends_s - now_s
        if left_s <= 0:
            return f"ended on {self.until}"
        return f"ends on {self.until}, in {_duration(left_s)}" if left_s <= SOON_S else ""

    def urgency(self, now_s: float) -> int:
        """Return how many of the warnings at the times `_AGAIN_S` are due at a time [s since 1970]."""
        return sum(self.ends_s - now_s <= before_s for before_s in _AGAIN_S)

    def fault(self, now_s: float) -> str:
        """Return why the certificate is not valid at a time [s since 1970]; empty: it is valid."""
        if now_s >= self.ends_s:
            ended = f"the certificate {self.path} {self.end(now_s)}"
            return f"{ended}, and nobody talks to its holder any more; {self._renewal}"
        if now_s < self.begins_s:
            return (
                f"the certificate {self.path} begins on {_date(self.begins_s)}, and this machine's clock "
                f"says {_date(now_s)}: set the clock"
            )
        return ""

    def warning(self, now_s: float) -> str:
        """Return the warning about an end within `SOON_S` of a time [s since 1970]; empty: there is none."""
        if not (end := self.end(now_s)):
            return ""
        return (
            self.fault(now_s) or f"the certificate {self.path} {end}, and all links with it; {self._renewal}"
        )

    @property
    def _renewal(self) -> str:
        place = self.path.parent
        where = f"{place.parent.parent} {place.name}" if place.parent.name == "enclaves" else "KEYSTORE NAME"
        command = f"python -m ros2_embedded.security renew {where}"
        return f"`{command}` makes another, which sessions take when they open"


def certificates_of(config: zenoh.Config) -> list[Certificate]:
    """Return the certificates by which a session authenticates itself; none where it does not use TLS.

    Raises:
        CertificateError: a file cannot be read.
    """
    named = [json.loads(config.get_json(f"{_TLS}/{key}_certificate")) for key in ("connect", "listen")]
    return [Certificate.read(Path(path)) for path in sorted({path for path in named if path})]


def links_end(config: zenoh.Config) -> bool:
    """Return whether existing links end when the certificate expires, instead of only new ones failing."""
    return bool(json.loads(config.get_json(f"{_TLS}/close_link_on_expiration")))


def require_valid(certificates: list[Certificate]) -> None:
    """Check that certificates are valid now, and log which of them expire soon.

    Raises:
        CertificateError: a certificate is not valid.
    """
    now_s = time.time()
    for certificate in certificates:
        if fault := certificate.fault(now_s):
            raise CertificateError(fault)
        if warning := certificate.warning(now_s):
            _logger.warning("%s", warning)


class CertificateWatch:
    """Logs warnings before and at the end of a session's certificates, in a thread of its own."""

    def __init__(self, certificates: list[Certificate]) -> None:
        """Start the thread, unless there are no certificates."""
        self._closing = Event()
        self._moments = _moments(certificates, time.time())
        if self._moments:
            Thread(target=self._run, name="certificates", daemon=True).start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()

    def _run(self) -> None:
        for moment_s, certificate in self._moments:
            while (now_s := time.time()) < moment_s:
                if self._closing.wait(min(_LOOK_S, moment_s - now_s)):
                    return
            level = logging.ERROR if now_s >= certificate.ends_s else logging.WARNING
            _logger.log(level, "%s", certificate.warning(now_s))


def _moments(certificates: list[Certificate], now_s: float) -> list[tuple[float, Certificate]]:
    """Return the times [s] at which to log warnings, and their certificates, in chronological order."""
    all_of_them = [(each.ends_s - before_s, each) for each in certificates for before_s in _AGAIN_S]
    return sorted((one for one in all_of_them if one[0] > now_s), key=lambda one: one[0])


def _date(stamp_s: float) -> str:
    return datetime.fromtimestamp(stamp_s, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
