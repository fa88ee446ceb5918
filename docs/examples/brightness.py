"""A whole sidecar: what it needs, what it answers, and how it is served."""

import argparse

import numpy as np

from openral_sidecar.environment.spec import InstallStep, SidecarSpec
from openral_sidecar.errors import SidecarRefused
from openral_sidecar.identity import Identity
from openral_sidecar.server import serve, server_arguments, server_options

SPEC = SidecarSpec(
    name="brightness",
    python="3.11",
    steps=(InstallStep(("pillow>=10.1,<13",)),),
    module="brightness",
    parser="brightness:arguments",
    description="how bright an image is",
)


def measure(data: dict) -> dict:
    """Answer one call: an image, uint8 (H, W, 3), brings its brightness, 0 to 1."""
    from PIL import Image  # only the sidecar has it for sure, so it is imported where it is used

    image = data.get("image")
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.shape[2:] != (3,):
        raise SidecarRefused("image", "no image; send `image` as uint8 of (H, W, 3)")
    return {"brightness": float(np.asarray(Image.fromarray(image).convert("L")).mean() / 255)}


def arguments() -> argparse.ArgumentParser:
    """Return the parser of what the server is started with."""
    parser = argparse.ArgumentParser(description=SPEC.description)
    parser.add_argument("--model", default="luma")
    server_arguments(parser)
    return parser


def main() -> None:
    """Serve; a real one loads its checkpoint here, before it says that it is ready."""
    args = arguments().parse_args()
    serve(
        {"measure": measure},
        Identity(args.model),
        server_options(args),
        describe=lambda: {"range": [0.0, 1.0]},
    )


if __name__ == "__main__":
    main()
