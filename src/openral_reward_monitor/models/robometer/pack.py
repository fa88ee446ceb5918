"""Makes a packed checkpoint: NF4 weights, `quantization_metadata.json`, and all other files unchanged.

It runs in the sidecar's interpreter; `tools/build_robometer_nf4_checkpoint.py` installs that and calls this module.
"""

from __future__ import annotations

import argparse
import logging
import shutil
from importlib.metadata import version
from pathlib import Path

from openral_core.errors import OpenralError, PolicyError
from openral_rskill.nf4.metadata import write_metadata
from openral_rskill.nf4.pack import pack_checkpoint
from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_rskill.weight_shards import INDEX, WEIGHTS, weight_files
from openral_sidecar.environment.torchvision_shim import ensure_torchvision

_log = logging.getLogger("openral.nf4")


def pack_folder(
    source: Path,
    target: Path,
    *,
    min_numel: int = MIN_NUMEL,
    device: str = "cpu",
    source_repo: str = "",
    source_revision: str = "",
) -> list[str]:
    """Pack a checkpoint folder and return the names of the packed layers.

    Args:
        source: the plain checkpoint: weights, configurations, tokenizer and processor files.
        target: another folder, made if need be; it is a whole checkpoint afterwards.
        min_numel: least number of weights of a layer that is packed.
        device: torch device that quantizes; a GPU takes seconds, a CPU minutes.
        source_repo: repository of the plain checkpoint, for the metadata.
        source_revision: its commit, for the metadata.

    Raises:
        PolicyError: the source is no complete checkpoint, or is the target.
    """
    ensure_torchvision()
    from openral_reward_monitor.models.robometer.checkpoint import build_skeleton
    from openral_reward_monitor.models.robometer.inputs import RbmInputs

    if source.resolve() == target.resolve():
        raise PolicyError(f"{target} is the source; name another folder")
    skeleton = build_skeleton(source, RbmInputs(source))
    files = weight_files(source)
    target.mkdir(parents=True, exist_ok=True)
    layers = pack_checkpoint(skeleton, files, target / WEIGHTS, min_numel=min_numel, device=device)
    for path in source.iterdir():
        if path.is_file() and path not in files and path.name != INDEX:
            shutil.copyfile(path, target / path.name)
    write_metadata(
        target,
        layers,
        min_numel=min_numel,
        versions={name: version(name) for name in ("bitsandbytes", "torch", "transformers")},
        source_repo=source_repo,
        source_revision=source_revision,
        build_tool="tools/build_robometer_nf4_checkpoint.py",
    )
    return layers


def main() -> int:
    """Pack the folder that the command line names; return 1 if that fails, else 0."""
    parser = argparse.ArgumentParser(description="Packs a Robometer checkpoint to NF4.")
    parser.add_argument("source", type=Path, help="folder of the bf16 checkpoint")
    parser.add_argument("target", type=Path, help="folder to write")
    parser.add_argument("--min-numel", type=int, default=MIN_NUMEL, help="smallest layer that is packed")
    parser.add_argument("--device", default="cpu", help="what quantises: cpu, cuda, cuda:1")
    parser.add_argument("--source-repo", default="", help="such as robometer/Robometer-4B, for the metadata")
    parser.add_argument("--source-revision", default="", help="its commit, for the metadata")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        layers = pack_folder(
            args.source,
            args.target,
            min_numel=args.min_numel,
            device=args.device,
            source_repo=args.source_repo,
            source_revision=args.source_revision,
        )
    except OpenralError as error:
        _log.error("%s", error)
        return 1
    size = (args.target / "model.safetensors").stat().st_size
    _log.info("%s: %d layers packed, %.2f GB", args.target, len(layers), size / 1e9)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
