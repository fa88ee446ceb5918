"""From settings to a model object of pydantic-ai."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from openral_core.errors import InstallationError
from openral_reasoner.llm.settings import ModelSettings, api_key

if TYPE_CHECKING:
    from pydantic_ai.models import Model


def build_model(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> Model:
    """Return the client of the configured model; nothing is sent before its first use.

    The SDKs' own retries are off: a request that fails is one failure, after one timeout.

    Raises:
        InstallationError: the client is not installed, or there is no key.
    """
    key = api_key(settings, environment).get_secret_value()
    try:
        if settings.provider == "anthropic":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            client = AsyncAnthropic(
                api_key=key, base_url=settings.base_url, max_retries=0, timeout=settings.request_timeout_s
            )
            return AnthropicModel(settings.name, provider=AnthropicProvider(anthropic_client=client))
        from openai import AsyncOpenAI
        from pydantic_ai.providers.openai import OpenAIProvider

        from openral_reasoner.llm.chat_endpoint import ChatEndpoint

        endpoint = AsyncOpenAI(
            api_key=key, base_url=settings.base_url, max_retries=0, timeout=settings.request_timeout_s
        )
        return ChatEndpoint(settings.name, provider=OpenAIProvider(openai_client=endpoint))
    except ImportError as error:
        raise InstallationError(
            f"{settings.model}: {error.name} is not installed: pip install 'openral[reasoner]'"
        ) from error
