"""Reading of a URDF from a file or from an arm, as untrusted text."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree


def parse_urdf(text: str) -> ElementTree.Element:
    """Return the root of a URDF; entities are not resolved.

    Raises:
        ValueError: it is no URDF that can be read; the text says why.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("declares entities, which no URDF needs; it is not read")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"cannot be read: {error}") from error


def joints_in(path: Path) -> list[str]:
    """Return the names of the joints that a URDF's file has, in its order.

    Raises:
        ValueError: it cannot be read; the text says why.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    return [str(joint.get("name")) for joint in parse_urdf(text).findall("joint")]
