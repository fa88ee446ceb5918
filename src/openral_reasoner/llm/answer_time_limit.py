"""A bound on the time of one answer of a language model.

The time-out of an HTTP client begins anew with each byte, and some endpoints send blanks while a model thinks.
"""

from __future__ import annotations

import asyncio

from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings


class AnswerTimeLimit(WrapperModel):
    """A model each of whose answers must be whole within a time."""

    def __init__(self, model: Model, limit_s: float) -> None:
        """Take the model, and the time [s] of one answer."""
        super().__init__(model)
        self._limit_s = limit_s

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return the model's next answer.

        Raises:
            AgentRunError: it was not whole in time.
        """
        asked = super().request(messages, model_settings, model_request_parameters)
        try:
            return await asyncio.wait_for(asked, self._limit_s)
        except asyncio.TimeoutError:
            raise AgentRunError(f"no whole answer within {self._limit_s:g} s") from None
