"""One mission in the hands of a language model: the conversation, in a thread of its own, under its budget."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent, ToolOutput, UsageLimits
from pydantic_ai.exceptions import AgentRunError, UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.settings import ModelSettings as RequestSettings

from openral_reasoner.llm.answer_time_limit import AnswerTimeLimit
from openral_reasoner.llm.prompts import ROLE, first_message
from openral_reasoner.llm.settings import ModelSettings
from openral_reasoner.llm.tools import make_tools
from openral_reasoner.memory.notes_file import Memory, NotesError
from openral_reasoner.mission.agent_requests import Finish, MissionOver, RequestQueue
from openral_reasoner.palette import Palette
from openral_reasoner.tools.table import MissionEnd

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_log = logging.getLogger(__name__)


class MissionAgent:
    """Runs the conversation of one mission. Make one for each."""

    def __init__(
        self,
        make_model: Callable[[], Model],
        settings: ModelSettings,
        requests: RequestQueue,
        *,
        memory: Memory | None = None,
        cameras: Sequence[str] = (),
        locates: bool = False,
    ) -> None:
        """Prepare; nothing is sent before `start`.

        Args:
            make_model: makes the client, see `build_model`; it is closed at the end of the conversation, since its
                connections belong to the event loop of this one.
            settings: budget and abilities.
            requests: where requests go; closed by whoever ends the mission.
            memory: notes; None: the model keeps none.
            cameras: names of the cameras it may look through.
            locates: something in the graph answers where a thing is.
        """
        self._make_model, self._settings, self._requests = make_model, settings, requests
        self._memory, self._cameras, self._locates = memory, cameras, locates
        self._lock = threading.Lock()
        self._cancelled = False
        self._where = ""
        """Where the endpoint is, in words."""
        self._conversation: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None
        """The running event loop and its task; None before the conversation begins and after it has ended."""
        self.ended: Future[str] = Future()
        """Empty when the model came to an end of its own; else why it did not."""
        self.unreached = False
        """Its end is no doing of the model: the endpoint was not there, refused, or took too long."""

    def start(self, order: str, palette: Palette, history: Sequence[str] = ()) -> None:
        """Begin; returns at once. `history`: what became of tasks before a restart, one line each."""
        words = (order, palette, history)
        threading.Thread(target=self._live, args=words, name="language model", daemon=True).start()

    def cancel(self) -> None:
        """End the conversation, and with it a request that is under way; before `start` it keeps it from beginning.

        Safe from any thread, at any time.
        """
        with self._lock:  # the loop cannot close meanwhile
            self._cancelled = True
            if self._conversation is not None:
                loop, task = self._conversation
                loop.call_soon_threadsafe(task.cancel)

    def _live(self, order: str, palette: Palette, history: Sequence[str]) -> None:
        reason = ""
        try:
            asyncio.run(self._cancellable(order, palette, history))
        except MissionOver as over:
            reason = str(over)
        except asyncio.CancelledError:
            reason = "broken off"
        except UsageLimitExceeded as error:
            reason = f"its budget for one mission is used up: {error}"
        except UnexpectedModelBehavior as error:
            reason = f"{self._settings.model} answers in a form that is no use: {error}"
        except AgentRunError as error:
            self.unreached = True
            reason = f"{self._settings.model}{self._where} did not answer: {error}"
        except Exception as error:  # noqa: BLE001  SDKs raise what they like; the mission must learn of it
            _log.exception("the language model's thread failed")
            reason = f"{self._settings.model}: {type(error).__name__}: {error}"
        self.ended.set_result(" ".join(reason.split())[:300])

    async def _cancellable(self, order: str, palette: Palette, history: Sequence[str]) -> None:
        task: Any = asyncio.current_task()
        with self._lock:
            if self._cancelled:
                raise asyncio.CancelledError
            self._conversation = asyncio.get_running_loop(), task
        try:
            model: Any = self._make_model()
            self._where = f" at {model.base_url}"
            try:
                await self._converse(model, order, palette, history)
            finally:
                await model.client.close()
        finally:
            with self._lock:
                self._conversation = None

    async def _converse(self, model: Model, order: str, palette: Palette, history: Sequence[str]) -> None:
        tools = make_tools(
            palette,
            self._requests,
            self._memory,
            self._cameras,
            sees=self._settings.sees_images,
            locates=self._locates,
            max_calls=self._settings.max_tool_calls,
        )
        agent = Agent(
            AnswerTimeLimit(model, self._settings.request_timeout_s),
            output_type=ToolOutput(MissionEnd, name="finish_mission", description="End the mission."),
            instructions=ROLE,
            tools=tools,
            retries=3,
            model_settings=RequestSettings(
                temperature=self._settings.temperature, timeout=self._settings.request_timeout_s
            ),
        )
        cameras = self._cameras if self._settings.sees_images else ()
        result = await agent.run(
            first_message(order, palette, self._notes(order), cameras, history),
            usage_limits=UsageLimits(
                request_limit=self._settings.max_requests,
                total_tokens_limit=self._settings.max_tokens,
                tool_calls_limit=self._settings.max_tool_calls,
            ),
        )
        end = result.output
        await asyncio.wrap_future(self._requests.put(Finish(end.done, end.words, end.nothing_to_do)))

    def _notes(self, order: str) -> list[str]:
        """Return the notes about an order; a file that cannot be read costs them and not the conversation."""
        try:
            return self._memory.recall(order) if self._memory else []
        except NotesError as error:
            _log.warning("no notes for the language model: %s", error)
            return []
