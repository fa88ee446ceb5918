"""A sidecar that stands for a large detector: it finds bright pixels, or misbehaves when the words ask for it."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from openral_sidecar.errors import SidecarRefused
from openral_sidecar.identity import Identity
from openral_sidecar.server import serve, server_arguments, server_options


def find(data: dict[str, Any]) -> dict[str, Any]:
    image, words = data["image"], data["words"]
    if words == "refuse":
        raise SidecarRefused("input", "not this")
    if words == "nonsense":
        return {"boxes": np.full((1, 4), np.nan, np.float32), "scores": np.ones(1, np.float32)}
    if words == "short":
        return {"boxes": np.zeros((2, 3), np.float32), "scores": np.ones(2, np.float32)}
    rows, columns = np.nonzero(image.max(axis=2) > 200)
    if not rows.size:
        return {"boxes": np.zeros((0, 4), np.float32), "scores": np.zeros(0, np.float32)}
    box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    return {"boxes": np.array([box], np.float32), "scores": np.array([data["threshold"] + 0.1], np.float32)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint")
    parser.add_argument("--device")
    server_arguments(parser)
    args = parser.parse_args()
    serve({"find": find}, Identity(args.checkpoint), server_options(args))


if __name__ == "__main__":
    main()
