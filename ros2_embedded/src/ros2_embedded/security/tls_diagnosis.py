"""Diagnosis of a session with certificates that finds no peers, by a TLS handshake with each configured peer.

Zenoh retries connections without a message, since a peer may start later.
"""

from __future__ import annotations

import json
import os
import socket
import ssl
from collections.abc import Mapping
from typing import Any

import zenoh

from ros2_embedded.session_config import make_config

_PATIENCE_S = 2.0
"""[s] time within which a peer must answer."""
_VERDICT_S = 0.5
"""[s] time after the handshake within which the peer may refuse the certificate."""
_ALERTS = {
    **dict.fromkeys(("UNKNOWN_CA", "DECRYPT_ERROR"), "it is of another authority than the peer's"),
    "CERTIFICATE_EXPIRED": "it has ended, by the peer's clock",
    "CERTIFICATE_UNKNOWN": "the peer does not take it",
    "BAD_CERTIFICATE": "the peer does not take it",
    "CERTIFICATE_REQUIRED": "the peer demands one, and none was shown",
}
"""Meaning of the alerts of TLS (RFC 8446, 6.2)."""


def refusals(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Try a TLS handshake with each peer that the session file names; return a sentence for each that failed.

    The list is empty without a session file, if it names no peer by TLS, or if all accept the certificate.

    Raises:
        SessionConfigError: the session file cannot be read.
    """
    if not environment.get("ZENOH_SESSION_CONFIG_URI", ""):
        return []
    config = make_config(environment)
    listens, connects = (_endpoints(config, key) for key in ("listen", "connect"))
    tls = json.loads(config.get_json("transport/link/tls"))
    tried = [(endpoint, _fault(endpoint, tls)) for endpoint in connects if endpoint not in listens]
    return [f"{endpoint}: {fault}" for endpoint, fault in tried if fault]


def _endpoints(config: zenoh.Config, key: str) -> list[str]:
    named = json.loads(config.get_json(f"{key}/endpoints"))
    return [one for one in named if one.startswith("tls/")] if isinstance(named, list) else []


def _fault(endpoint: str, tls: dict[str, Any]) -> str:
    host, _, port = endpoint.partition("/")[2].partition("#")[0].rpartition(":")
    host, certificate = host.strip("[]"), tls.get("connect_certificate")
    try:
        context = ssl.create_default_context(cafile=tls.get("root_ca_certificate"))
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)  # Zenoh does not require it
        context.check_hostname = tls.get("verify_name_on_connect") is not False
        if certificate:
            context.load_cert_chain(certificate, tls.get("connect_private_key"))
        with (
            socket.create_connection((host, int(port)), _PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname=host) as link,
        ):
            link.settimeout(_VERDICT_S)  # TLS 1.3: the client ends before its certificate is verified
            link.recv(1)
    except TimeoutError as error:
        return "" if "read" in str(error) else "nobody answers"
    except ssl.SSLCertVerificationError as error:
        return f"the peer's certificate is not taken here: {error.verify_message}"
    except ssl.SSLError as error:
        why = next((words for alert, words in _ALERTS.items() if alert in (error.reason or "")), None)
        return f"the certificate {certificate} is refused: {why or error.reason or error}"
    except OSError as error:
        return f"nobody listens there ({error.strerror or error})"
    return ""
