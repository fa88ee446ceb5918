"""Checks, before the first observation, that the inputs and outputs of a server's checkpoint fit the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from openral_core.manifest import RSkillManifest
from openral_policy_nodes.families.rldx.layouts import WireLayout
from openral_sidecar.wires.rldx import ModalityConfig


def modality_faults(found: Mapping[str, Any], layout: WireLayout, manifest: RSkillManifest) -> list[str]:
    """Compare a server's reply to `get_modality_config` with a manifest and its names on the wire.

    Args:
        found: modality -> ModalityConfig.
        layout: names of the manifest's embodiment.
        manifest: of the skill.

    Returns:
        A line for each fault, with its fix; empty where everything fits.
    """
    return list(_faults(found, layout, manifest))


def _faults(found: Mapping[str, Any], layout: WireLayout, manifest: RSkillManifest) -> Iterator[str]:
    keys = {
        "video": tuple(key for _, key in layout.videos),
        "state": layout.state_keys,
        "action": layout.action_keys,
        "language": (layout.language,),
    }
    for modality, needed in keys.items():
        config = found.get(modality)
        if not isinstance(config, ModalityConfig):
            yield f"{modality}: the server says nothing of it; it is no RLDX-1 policy server"
        elif set(config.modality_keys) != set(needed):
            yield (
                f"{modality}: the checkpoint has {', '.join(config.modality_keys) or 'nothing'}, layout "
                f"{_layout_name(manifest)} gives {', '.join(needed)}; serve a checkpoint of this embodiment"
            )
        elif fault := _fault_in_time(modality, config.delta_indices, manifest):
            yield fault


def _fault_in_time(modality: str, steps: tuple[int, ...], manifest: RSkillManifest) -> str | None:
    if modality == "video":
        history = manifest.image_preprocessing.history if manifest.image_preprocessing else ()
        if tuple(steps) != tuple(history or (0,)):
            return (
                f"video: the checkpoint looks at control steps {list(steps)}, the manifest at {list(history)}; "
                f"write image_preprocessing.history: {list(steps)}"
            )
    elif modality == "action":
        if tuple(steps) != tuple(range(manifest.chunk_size)):
            return f"action: the checkpoint gives {len(steps)} steps; write chunk_size: {len(steps)}"
    elif tuple(steps) != (0,):
        return f"{modality}: the checkpoint takes control steps {list(steps)}; only that of now is sent"
    return None


def _layout_name(manifest: RSkillManifest) -> str:
    return str(manifest.state_contract.layout if manifest.state_contract else None)
