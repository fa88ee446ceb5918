"""The file `quantization_metadata.json` beside packed weights: their provenance, and which layers are packed.

The fields are those of the packed Robometer on the hub, with `modules` and `versions` added. This module needs no
torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from openral_core.errors import PolicyError
from openral_core.files.json_file import read_json_object

FILE = "quantization_metadata.json"


def write_metadata(
    folder: Path, layers: Sequence[str], *, min_numel: int, versions: Mapping[str, str], **provenance: str
) -> None:
    """Write the file.

    Args:
        folder: of the packed weights.
        layers: names of the packed layers.
        min_numel: least number of weights of a packed layer.
        versions: distribution -> version, for those that affect the packed bits.
        provenance: such as source_repo, source_revision, build_tool.
    """
    fields = {
        "scheme": "nf4",
        "quantizer": "bitsandbytes",
        "compute_dtype": "bfloat16",
        "double_quant": True,
        "min_params_to_quantize": min_numel,
        "modules_quantized": len(layers),
        "modules": list(layers),
        "versions": dict(versions),
        **provenance,
    }
    (folder / FILE).write_text(json.dumps(fields, indent=2) + "\n")


def check_metadata(folder: Path, layers: Sequence[str]) -> None:
    """Check that the file lists the layers that are packed in the weights; do nothing if there is no file.

    Raises:
        PolicyError: the file cannot be read, or describes other layers.
    """
    path = folder / FILE
    if not path.is_file():
        return
    fields = read_json_object(path, PolicyError)
    try:
        listed = fields.get("modules")
        count, names = int(fields["modules_quantized"]), set(layers if listed is None else listed)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise PolicyError(f"{path}: cannot be read ({error!r}); fetch it again") from error
    if count != len(layers) or names != set(layers):
        raise PolicyError(
            f"{path}: speaks of {count} packed layers, the weights hold {len(layers)} or others; fetch both again"
        )
