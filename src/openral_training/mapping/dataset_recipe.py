"""The recipe for an external dataset: the manifest of the skill, and the features that it is trained on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from openral_core.files.yaml_document import Document, Key, read_document
from openral_core.manifest import RSkillManifest
from openral_core.manifest.contracts import LAYOUT_DIMS
from openral_core.manifest.runtime import LOCAL
from openral_core.schema import Count, Fault, Finite, Many, Schema, Word, raise_faults, validate
from openral_rskill.mini import WEIGHTS
from openral_training.training_recipe import Recipe, load_recipe

GIVEN = {
    "schema_version": "0.1",
    "kind": "vla",
    "model_family": "mini",
    "runtime": "pytorch",
    "quantization": {"dtype": "bf16", "backend": "pytorch"},
    "weights_uri": f"{LOCAL}{WEIGHTS}",
}
"""Keys of the manifest that `openral train bc` determines."""


class FeatureColumns(Schema):
    """Numbers of one feature; in YAML the name of a feature alone means all of its numbers."""

    feature: Word
    """Name of the feature in the dataset, such as observation.state."""
    columns: Many[Annotated[int, Field(ge=0)]] | None = Field(default=None, min_length=1)
    """Indices of its numbers, from 0, in the order of the vector; absent: all."""
    scale: Finite = 1.0
    """Factor to the manifest's units, such as 0.01745329 from degrees to radians."""
    offset: Finite = 0.0
    """Added after scaling, in the manifest's units."""


def _named(value: Any) -> Any:
    return {"feature": value} if isinstance(value, str) else value


Columns = Annotated[FeatureColumns, BeforeValidator(_named)]


class SkillRecipe(Schema):
    """Maps the features of a LeRobot dataset to the observations and the actions of a skill."""

    cameras: dict[Word, Word] = Field(min_length=1)
    """Camera of the manifest (its `vla_feature_key`) -> feature of the dataset."""
    state: Many[Columns] = (FeatureColumns(feature="observation.state"),)
    """Parts of the state vector, in this order."""
    action: Many[Columns] = (FeatureColumns(feature="action"),)
    """Parts of the action vector, in this order; their meaning is that of the manifest's `action_contract`."""
    action_steps: Count = 1
    """Number of consecutive control steps in the action of one frame, as in `action.executed` of a recording."""
    only_where: Word | None = None
    """Boolean feature: only frames in which it is true are trained on, such as `intervention`; absent: all frames."""
    never_where: Word | None = None
    """Boolean feature: frames in which any of its values is true are not trained on, such as `action.held`."""
    only_outcome: Word | None = None
    """Outcome of the episodes that are trained on, such as `success` (`outcome` in a recording); absent: any."""
    seam_frames: Annotated[int, Field(ge=0)] = 0
    """Number of frames that are not trained on after `only_where` becomes true within an episode: while a take-over
    blends from the previous motion, the executed actions are not those of the operator."""
    words: dict[Word, Many[Word]] = Field(default_factory=dict)
    """Sentence of one of the dataset's tasks -> paraphrases, which are used in training as well."""
    leave_out: Many[Annotated[int, Field(ge=0)]] = ()
    """Indices of episodes that are not trained on."""
    manifest: RSkillManifest
    """`rskill.yaml` of the skill, without the keys of `GIVEN`."""
    _document: Document = PrivateAttr(default_factory=lambda: Document(Path("recipe")))

    @model_validator(mode="after")
    def _fits_itself(self) -> SkillRecipe:
        raise_faults(
            [*_given_faults(self.manifest), *_contract_faults(self.manifest), *self._camera_faults()]
        )
        if self.action_steps > 1 and len(self.action) > 1:
            what = f"{self.action_steps} control steps a frame, of {len(self.action)} features"
            raise_faults([Fault("action_steps", what, "name one feature that holds whole steps")])
        if self.seam_frames and self.only_where is None:
            fix = "add only_where, or remove the line"
            raise_faults([Fault("seam_frames", "means nothing without only_where", fix)])
        return self

    @property
    def state_dim(self) -> int:
        """Length D of the state vector."""
        contract = self.manifest.state_contract
        assert contract is not None
        return contract.dim or LAYOUT_DIMS[contract.layout or ""]

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the numeric features that are read, without repetitions."""
        masks = (name for name in (self.only_where, self.never_where) if name)
        return tuple(dict.fromkeys([*(part.feature for part in (*self.state, *self.action)), *masks]))

    def fault(self, key: Key, what: str, fix: str) -> str:
        """Return the one-line report `file:line: key: what; fix`."""
        return self._document.fault(key, what, fix)

    def _camera_faults(self) -> list[Fault]:
        wanted = {s.vla_feature_key for s in self.manifest.sensors_required if s.modality == "rgb"}
        have = ", ".join(sorted(key for key in wanted if key)) or "none"
        faults = [
            Fault("cameras", f"'{key}' is no camera of the manifest", f"name one of {have}")
            for key in self.cameras
            if key not in wanted
        ]
        faults += [
            Fault("cameras", f"say nothing of the manifest's {key}", "name its feature of the dataset")
            for key in sorted(key for key in wanted if key and key not in self.cameras)
        ]
        if None in wanted:
            what = "has a camera (rgb) without a vla_feature_key"
            faults.append(
                Fault("manifest.sensors_required", what, "add one, such as observation.images.camera1")
            )
        other = [
            s.modality for s in self.manifest.sensors_required if s.modality not in ("rgb", "proprioception")
        ]
        faults += [
            Fault("manifest.sensors_required", f"asks for {kind}, and mini sees rgb only", "remove it")
            for kind in other
        ]
        return faults


def _given_faults(manifest: RSkillManifest) -> list[Fault]:
    """Return the faults of keys of the manifest that training determines."""
    values = manifest.model_dump(mode="json")
    faults = [
        Fault(f"manifest.{name}", f"{values[name]}, and training writes {value}", "remove the line")
        for name, value in GIVEN.items()
        if (values[name] != value if isinstance(value, str) else values[name] | value != values[name])
    ]
    if manifest.license == "unknown":
        faults.append(
            Fault("manifest", "states no license of the weights", "add license, such as apache-2.0")
        )
    return faults


def _contract_faults(manifest: RSkillManifest) -> list[Fault]:
    """Return the faults of missing dimensions, from which the network is built."""
    faults = []
    state, action, images = manifest.state_contract, manifest.action_contract, manifest.image_preprocessing
    if state is None or (state.dim is None and state.layout not in LAYOUT_DIMS):
        faults.append(
            Fault("manifest", "states no state_contract with its dim", "add state_contract: {dim: …}")
        )
    if action is None or action.representation is None:
        what = "states no action_contract with its representation"
        faults.append(Fault("manifest", what, "add action_contract: {dim: …, representation: …}"))
    if images and images.image_size and images.image_size[0] != images.image_size[1]:
        what = f"{list(images.image_size)}, and mini sees squares"
        faults.append(Fault("manifest.image_preprocessing.image_size", what, "write [96, 96]"))
    if images and images.history:
        faults.append(
            Fault(
                "manifest.image_preprocessing.history",
                "means nothing to mini, which sees one instant",
                "remove it",
            )
        )
    return faults


def load_cloning_recipe(ref: str | Path) -> Recipe | SkillRecipe:
    """Load a recipe of `openral train bc`: a file with a `manifest` is a SkillRecipe; others as by `load_recipe`.

    Raises:
        NotFoundError: there is no recipe of that name.
        ManifestError: the file is invalid; one line per fault.
    """
    path = Path(ref)
    if not (path.suffix and path.is_file() and _has_manifest(path)):
        return load_recipe(ref)
    document = read_document(path)
    if isinstance(document.data, dict) and isinstance(document.data.get("manifest"), dict):
        document.data["manifest"] = {**GIVEN, **document.data["manifest"]}
    recipe = validate(SkillRecipe, document)
    recipe._document = document
    return recipe


def _has_manifest(path: Path) -> bool:
    return re.search(rb"^manifest:", path.read_bytes(), re.MULTILINE) is not None
