"""Which language model plans, where it answers, and what it may cost."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, ValidationError

from openral_core.errors import InstallationError, ManifestError
from openral_core.files.user_path import user_path
from openral_core.loopback import host_of, is_loopback

PREFIX = "OPENRAL_REASONER_"


class ModelSettings(BaseModel):
    """Fields of a scene's `reasoner` section; the environment's OPENRAL_REASONER_<FIELD> goes before it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Annotated[str, StringConstraints(pattern=r"^(anthropic|openai):\S+$", max_length=200)]
    """provider:name, e.g. `openai:qwen3-8b` with a base_url, or `anthropic:<name>`; `openai` is every endpoint that
    speaks its chat API: vLLM, Ollama, llama.cpp, OpenRouter…"""
    base_url: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")] | None = None
    """Where the endpoint is; absent: the provider's own. A scene may name one of this machine alone."""
    sees_images: bool = False
    """The model takes images: it gets the tool `look`."""
    request_timeout_s: float = Field(default=60.0, gt=0)
    """[s] one answer of the model."""
    max_requests: int = Field(default=40, ge=1)
    """Answers of the model in one mission."""
    max_tokens: int = Field(default=200_000, ge=1)
    """Tokens in and out in one mission."""
    max_tool_calls: int = Field(default=80, ge=1)
    """Tools the model may call in one mission."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """0: as repeatable as the endpoint is."""

    @property
    def provider(self) -> str:
        """anthropic or openai."""
        return self.model.split(":", 1)[0]

    @property
    def name(self) -> str:
        """The model's name at its provider."""
        return self.model.split(":", 1)[1]


def model_settings(
    section: Mapping[str, object] | None, environment: Mapping[str, str] = os.environ
) -> ModelSettings | None:
    """Join a scene's section with the environment; None: no model is configured, the offline planner works.

    Raises:
        ManifestError: a value is wrong, or the scene names an endpoint on another machine, where the operator's key,
            orders and pictures would be sent: that is for the environment to say. The text names the field.
    """
    values: dict[str, object] = dict(section or {})
    for name in ModelSettings.model_fields:
        if said := environment.get(PREFIX + name.upper()):
            values[name] = said
    if not values.get("model"):
        return None
    try:
        settings = ModelSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise ManifestError(
            f"reasoner.{field}: {first['msg']}; fix the scene's section or {PREFIX}{field.upper()}"
        ) from None
    url = settings.base_url
    if url and not environment.get(f"{PREFIX}BASE_URL") and not is_loopback(host_of(url)):
        raise ManifestError(
            f"reasoner.base_url: {url} is not on this machine, and your key, orders and pictures would be sent there; "
            f"if you mean it, set {PREFIX}BASE_URL to it"
        )
    return settings


def api_key(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> SecretStr:
    """Return the key: OPENRAL_REASONER_API_KEY, the file named by …_API_KEY_FILE, or the provider's own variable.

    An endpoint of one's own (base_url) may need none; the key is then a placeholder.

    Raises:
        InstallationError: there is none, its file cannot be read or is empty, or no request could carry it.
    """
    own = f"{settings.provider.upper()}_API_KEY"
    if key := environment.get(PREFIX + "API_KEY"):
        return _checked(key, PREFIX + "API_KEY")
    if file := environment.get(PREFIX + "API_KEY_FILE"):
        try:
            key = user_path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise InstallationError(f"{PREFIX}API_KEY_FILE: {file}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InstallationError(f"{PREFIX}API_KEY_FILE: {file}: is no text") from error
        if not key:
            raise InstallationError(f"{PREFIX}API_KEY_FILE: {file}: is empty")
        return _checked(key, f"{PREFIX}API_KEY_FILE: {file}")
    if key := environment.get(own):
        return _checked(key, own)
    if settings.base_url:
        return SecretStr("none")
    raise InstallationError(f"{settings.model} needs a key: set {PREFIX}API_KEY, …_API_KEY_FILE or {own}")


def _checked(key: str, where: str) -> SecretStr:
    """Return a key that the header of a request can carry. Raises InstallationError: it cannot; `where` it stands."""
    if not (key.isascii() and key.isprintable()):
        raise InstallationError(
            f"{where}: is no key, for it holds a line break or a letter beyond ASCII; write the key alone, in one line"
        )
    return SecretStr(key)
