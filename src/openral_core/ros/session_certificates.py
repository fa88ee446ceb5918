"""What the certificates of this process's session mean for it: how long they last, and who does not take them.

Only sessions of `ros2_embedded` are known; on another ROS 2 nothing is said.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SessionTrust:
    """The certificates with which a session was opened; later renewals do not apply to it."""

    certificates: tuple[Any, ...] = ()
    """`ros2_embedded.certificate_dates.Certificate`s."""
    links_end: bool = False
    """Whether links end with them."""

    @staticmethod
    def of_process() -> SessionTrust:
        """Return the certificates of a session that is opened now."""
        try:
            from ros2_embedded.certificate_dates import certificates_of, links_end
            from ros2_embedded.session_config import make_config
        except ModuleNotFoundError:
            return SessionTrust()
        config = make_config()
        return SessionTrust(tuple(certificates_of(config)), links_end(config))

    def warning(self) -> str:
        """Return a warning about a certificate that expires within 30 days; empty: there is none."""
        now_s = time.time()
        said = dict.fromkeys(certificate.warning(now_s) for certificate in self.certificates)
        return "; ".join(words for words in said if words)

    def urgency(self) -> int:
        """Return a number that grows each time an expiry is near enough for a further log entry."""
        return max((each.urgency(time.time()) for each in self.certificates), default=0)

    @property
    def over(self) -> bool:
        """Whether a certificate has expired, and all links of this process with it."""
        return self.links_end and any(certificate.fault(time.time()) for certificate in self.certificates)


def refused_or(advice: str) -> str:
    """Return which peers the session file names and why none of them talks to this process; else `advice`."""
    try:
        from ros2_embedded.security.tls_diagnosis import refusals
    except ModuleNotFoundError:
        return advice
    return "; ".join(refusals()) or advice
