"""The client of an endpoint with OpenAI's chat interface, for what endpoints of others answer beside OpenAI's own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_BAD_GATEWAY = 502
"""HTTP status of an error that an endpoint sent without one."""
_MAX_WORDS = 200


class ChatEndpoint(OpenAIChatModel):
    """A chat model behind any endpoint that speaks the interface, such as a gateway to several providers."""

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return the model's next answer, whose calls have ids of their own and objects as arguments.

        Raises:
            AgentRunError: the endpoint did not answer, or its answer cannot be used.
        """
        answer = await super().request(messages, model_settings, model_request_parameters)
        taken: set[str] = set()
        for place, part in enumerate(answer.parts):
            if isinstance(part, ToolCallPart):
                answer.parts[place] = own = _own_id(_with_object(part), taken)  # type: ignore[index]
                taken.add(own.tool_call_id)
        return answer

    def _validate_completion(self, response: ChatCompletion) -> Any:
        """Return the checked answer; an error that came with the status of a success is raised as an error."""
        if not response.choices:
            error = getattr(response, "error", None)
            if error:
                code = error.get("code") if isinstance(error, dict) else None
                status = code if isinstance(code, int) else _BAD_GATEWAY
                words = error.get("message") if isinstance(error, dict) else error
                raise ModelHTTPError(status, self.model_name, str(words or error)[:_MAX_WORDS])
            raise UnexpectedModelBehavior("its list of choices is empty")
        return super()._validate_completion(response)


def _with_object(call: ToolCallPart) -> ToolCallPart:
    """Return a call whose arguments are an object: none for `[]` and `null`, others under a name that no tool has.

    The tool then refuses them in words, and the model may try again.
    """
    if not isinstance(call.args, str):
        return call
    try:
        given = json.loads(call.args or "{}")
    except (ValueError, RecursionError):
        return call  # refused in words where arguments are read
    if isinstance(given, dict):
        return call
    return replace(call, args={"arguments": given} if given else {})


def _own_id(call: ToolCallPart, taken: set[str]) -> ToolCallPart:
    """Return a call with an id that no other of the answer has."""
    if call.tool_call_id not in taken:
        return call
    number = next(n for n in range(len(taken) + 1) if f"{call.tool_call_id}_{n}" not in taken)
    return replace(call, tool_call_id=f"{call.tool_call_id}_{number}")
