"""Where a skill's weights are, what runs them, and how long it takes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints, model_validator

from openral_core.schema import Fault, Positive, Schema, Word, raise_faults
from openral_core.vocabulary import Dtype, QuantizationBackend

HUB_WORD = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
"""Owner or name of a repository on the hub."""
REVISION = r"[A-Za-z0-9_][A-Za-z0-9._/-]*"
"""Branch, tag or commit of one."""
_REPOSITORY = rf"hf://{HUB_WORD}/{HUB_WORD}"
HubUri = Annotated[str, StringConstraints(pattern=rf"^{_REPOSITORY}(@{REVISION})?$", max_length=300)]
"""hf://owner/repository, with @revision to pin it."""
FileUri = Annotated[
    str,
    StringConstraints(
        pattern=rf"^({_REPOSITORY}/|local://)[A-Za-z0-9._/-]*[A-Za-z0-9_-]\.[a-z0-9]+$", max_length=300
    ),
]
"""hf://owner/repository/file.ext, or local://file.ext relative to the manifest's folder."""
WeightsUri = Annotated[
    str,
    StringConstraints(pattern=rf"^({_REPOSITORY}(@{REVISION})?|local://[A-Za-z0-9._/-]+)$", max_length=300),
]
"""hf://owner/repository[@revision], or local://file relative to the manifest's folder."""
LOCAL = "local://"


class Quantization(Schema):
    """Number format of the weights."""

    dtype: Dtype = "fp32"
    """Format the weights are stored and computed in."""
    backend: QuantizationBackend = "pytorch"
    """What unpacks them."""
    per_channel: bool = False
    """One scale for each output channel rather than for each tensor."""
    calibration_dataset: Word | None = None
    """Data that fixed the scales."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """What the quantiser of this family reads besides."""


class LatencyBudget(Schema):
    """Times that the skill promises on the hardware it is meant for."""

    per_chunk_ms: Positive
    """[ms] one inference."""
    warmup_ms: Positive | None = None
    """[ms] first inference after loading."""
    load_ms: Positive | None = None
    """[ms] loading the weights; a sidecar is given up after thrice as long, and not before 15 minutes."""
    max_execution_s: Positive | None = None
    """[s] after this long one attempt is not worth going on."""


class Processors(Schema):
    """Files of the checkpoint that describe its pre- and postprocessing."""

    preprocessor_uri: FileUri
    """Normalisation of the inputs."""
    postprocessor_uri: FileUri
    """The inverse for the actions."""

    @model_validator(mode="after")
    def _are_two_files(self) -> Processors:
        if self.preprocessor_uri == self.postprocessor_uri:
            raise_faults(
                [Fault("postprocessor_uri", "is the same file as preprocessor_uri", "name the other file")]
            )
        return self
