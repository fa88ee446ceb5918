"""Exception of keystores."""

from __future__ import annotations


class KeystoreError(RuntimeError):
    """A keystore cannot be made or changed; the text names the cause."""
