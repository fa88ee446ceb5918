"""The hash of an interface, as endpoints announce it."""

from __future__ import annotations

HASH_SIZE = 32


class TypeHash:
    """Version and value of a type hash; `str` gives `RIHS01_<64 hex digits>`, or `INVALID`."""

    __slots__ = ("_value", "_version")

    def __init__(self, version: int = -1, value: bytes = bytes(HASH_SIZE)) -> None:
        """Make a hash; version -1 is none."""
        self._version, self._value = version, bytes(value)

    @classmethod
    def from_text(cls, text: str) -> TypeHash:
        """The hash of a token's field; what is no hash gives an invalid one."""
        prefix, _, digits = text.partition("_")
        try:
            version, value = int(prefix.removeprefix("RIHS")), bytes.fromhex(digits)
        except ValueError:
            return cls()
        return cls(version, value) if len(value) == HASH_SIZE else cls()

    @property
    def version(self) -> int:
        """How the hash was made; 1 is REP 2011."""
        return self._version

    @property
    def value(self) -> bytes:
        """32 bytes."""
        return self._value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypeHash):
            return NotImplemented
        return (self._version, self._value) == (other._version, other._value)

    def __hash__(self) -> int:
        return hash((self._version, self._value))

    def __str__(self) -> str:
        if self._version <= 0 or len(self._value) != HASH_SIZE:
            return "INVALID"
        return f"RIHS{self._version:02}_{self._value.hex()}"

    def __repr__(self) -> str:
        return f"TypeHash(version={self._version}, value={self._value!r})"
