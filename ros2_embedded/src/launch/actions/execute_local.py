"""Running a program as part of a launch."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..action import Action
from ..event import Event
from ..event_handler import BaseEventHandler, as_entity_list
from ..event_handlers.call_on_event import CallOnEvent
from ..event_handlers.on_action_event_base import OnEvent
from ..event_handlers.on_process_exit import OnProcessExit
from ..event_handlers.on_shutdown import OnShutdown
from ..events import HurryShutdown
from ..events.process import (
    ProcessExited,
    ProcessIO,
    ProcessStarted,
    ProcessStderr,
    ProcessStdin,
    ProcessStdout,
    ProcessTargetedEvent,
    ShutdownProcess,
    SignalProcess,
)
from ..launch_description_entity import LaunchDescriptionEntity
from ..logging import ProcessOutput, get_logger
from ..processes import ChildProcess, ChildSpec, stop_process
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitutions.launch_configuration import LaunchConfiguration
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions
from ..utilities.values import SomeBool, SomeFloat, as_substitutions, perform_bool, perform_float

if TYPE_CHECKING:
    from ..descriptions import Executable
    from ..launch_context import LaunchContext

_KILL_TIMEOUT_S = 2.0
_COULD_NOT_START = 127  # what a shell returns for a command it cannot run


class _Wanted(NamedTuple):
    """What the arguments of a process came to when it was visited."""

    emulate_tty: bool = False
    respawn: bool = False
    respawn_delay: float = 0.0
    """[s]"""
    stages: Sequence[tuple[signal.Signals, float]] = ()
    """Signals that stop it, each with the time [s] that it then has."""


class ExecuteLocal(Action):
    """Runs a program on this machine, from the visit until it ends or the launch does.

    Args:
        process_description: what to run.
        shell: whether `/bin/sh` runs the command, joined with blanks; put no text from elsewhere into such
            a command.
        sigterm_timeout: time [s] from SIGINT to SIGTERM; the configuration `sigterm_timeout` or 5 by default.
        sigkill_timeout: time [s] from SIGTERM to SIGKILL; the configuration `sigkill_timeout` or 5 by
            default.
        emulate_tty: whether the program sees a terminal; the configuration `emulate_tty` or false by default.
        output: where its lines go, see `launch.logging.output_sinks`; the environment's
            OVERRIDE_LAUNCH_PROCESS_OUTPUT wins.
        output_format: how a line looks on the screen; fields `line` and `this` (the action).
        cached_output: whether `get_stdout` and `get_stderr` return what the program wrote.
        log_cmd: whether to log the whole command.
        on_exit: entities to visit when it ends, or a callable `(event, context)` that returns them.
        respawn: whether to start it again when it ends by itself; not where it cannot be started at all.
        respawn_delay: pause [s] before that.
        respawn_max_retries: how often at most; -1 is for ever.
    """

    def __init__(
        self,
        *,
        process_description: Executable,
        shell: SomeBool = False,
        sigterm_timeout: SomeFloat | None = None,
        sigkill_timeout: SomeFloat | None = None,
        emulate_tty: SomeBool | None = None,
        output: SomeSubstitutionsType | Mapping[str, Any] = "log",
        output_format: str = "[{this.process_description.final_name}] {line}",
        cached_output: bool = False,
        log_cmd: bool = False,
        on_exit: OnEvent | None = None,
        respawn: SomeBool = False,
        respawn_delay: SomeFloat | None = None,
        respawn_max_retries: int = -1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__shell = shell
        self.__description = process_description
        self.__sigterm_timeout = _default(sigterm_timeout, "sigterm_timeout", 5)
        self.__sigkill_timeout = _default(sigkill_timeout, "sigkill_timeout", 5)
        self.__emulate_tty = _default(emulate_tty, "emulate_tty", "false")
        output = os.environ.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT", output)
        self.__output: Any = (
            output if isinstance(output, Mapping) else normalize_to_list_of_substitutions(output)
        )
        self.__output_format = output_format
        self.__cached_output = cached_output
        self.__log_cmd = log_cmd
        self.__on_exit = on_exit
        self.__respawn = respawn
        self.__respawn_delay = respawn_delay
        self.__retries_left = respawn_max_retries
        self.__wanted = _Wanted()
        self.__cache: dict[str, bytes] = {"stdout": b"", "stderr": b""}
        self.__handlers: list[BaseEventHandler] = []
        self.__child: ChildProcess | None = None
        self.__stopping: asyncio.Future[None] | None = None
        self.__stop_wanted = asyncio.Event()
        self.__hurry = asyncio.Event()
        self.__future: asyncio.Future[None] | None = None
        self.__return_code: int | None = None
        self.__known_details: dict[str, Any] | None = None
        self.__logger = get_logger("launch")

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities visited when the process ends, as far as they are known."""
        return [] if self.__on_exit is None or callable(self.__on_exit) else as_entity_list(self.__on_exit)

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities visited when the process ends, unless the process hangs on a condition."""
        return [] if self.condition is not None else self.get_sub_entities()

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return the entities visited when the process ends, if it hangs on a condition."""
        return [] if self.condition is None else [(self.condition.describe(), self.get_sub_entities())]

    @property
    def shell(self) -> SomeBool:
        """Whether a shell runs the command, before substitution."""
        return self.__shell

    @property
    def emulate_tty(self) -> SomeBool:
        """Whether the program sees a terminal, before substitution."""
        return self.__emulate_tty

    @property
    def sigterm_timeout(self) -> Any:
        """The time from SIGINT to SIGTERM [s], as substitutions."""
        return as_substitutions(self.__sigterm_timeout)

    @property
    def sigkill_timeout(self) -> Any:
        """The time from SIGTERM to SIGKILL [s], as substitutions."""
        return as_substitutions(self.__sigkill_timeout)

    @property
    def process_description(self) -> Executable:
        """What is run."""
        return self.__description

    @property
    def name(self) -> Any:
        """The process's name in the launch, such as `talker-1`; before the visit its substitutions."""
        return self.__description.final_name or self.__description.name

    @property
    def output(self) -> Any:
        """Where the lines go, before substitution."""
        return self.__output

    @property
    def return_code(self) -> int | None:
        """The exit code of the last run; None before it ended."""
        return self.__return_code

    @property
    def process_details(self) -> dict[str, Any] | None:
        """Name, command, directory, environment and, once it was started, the process id; None before the
        visit."""
        return self.__known_details

    def get_stdout(self) -> str:
        """Return what the program wrote to stdout so far; raise RuntimeError without `cached_output`."""
        return self.__cached("stdout")

    def get_stderr(self) -> str:
        """Return what the program wrote to stderr so far; raise RuntimeError without `cached_output`."""
        return self.__cached("stderr")

    def __cached(self, stream: str) -> str:
        if not self.__cached_output:
            raise RuntimeError(
                f"the {stream} of this process was not kept; construct the action with cached_output=True"
            )
        return self.__cache[stream].decode(errors="replace")

    def describe(self) -> str:
        """Return the command in words."""
        words = [" + ".join(sub.describe() for sub in item) for item in self.__description.cmd]
        return f"{type(self).__name__}({', '.join(words)})"

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that is done when the process has ended for good."""
        return self.__future

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Prepare the command, listen for requests, and start the process, unless the launch is on its way
        down."""
        self.prepare(context)
        self.__wanted = self.__perform(context)
        if context.is_shutdown:
            return None
        self.__handlers = self.__event_handlers()
        for handler in self.__handlers:
            context.register_event_handler(handler)
        if not isinstance(self.__output, Mapping):
            self.__output = perform_substitutions(context, self.__output)
        self.__future = context.running_loop().create_task(self.__run(context))
        return None

    def prepare(self, context: LaunchContext) -> None:
        """Perform the substitutions of the command."""
        self.__description.prepare(context, self)
        if perform_bool(context, self.__shell, "shell"):
            self.__description.final_cmd = ["/bin/sh", "-c", " ".join(self.__description.final_cmd)]
        self.__logger = get_logger(self.__description.final_name)
        self.__known_details = self.__details(None)

    def __perform(self, context: LaunchContext) -> _Wanted:
        """Perform what is needed later, when the scope of the visit has gone."""
        return _Wanted(
            perform_bool(context, self.__emulate_tty, "emulate_tty"),
            perform_bool(context, self.__respawn, "respawn"),
            perform_float(context, self.__respawn_delay or 0.0, "respawn_delay"),
            (
                (signal.SIGINT, perform_float(context, self.__sigterm_timeout, "sigterm_timeout")),
                (signal.SIGTERM, perform_float(context, self.__sigkill_timeout, "sigkill_timeout")),
                (signal.SIGKILL, _KILL_TIMEOUT_S),
            ),
        )

    def shutdown(self, context: LaunchContext) -> None:
        """Start stopping the process, SIGINT first; nothing happens if that goes on already."""
        self.__stop_wanted.set()
        if self.__child is None or self.__stopping is not None:
            return
        stages = self.__wanted.stages
        self.__stopping = context.running_loop().create_task(
            stop_process(self.__child, self.name, stages, self.__hurry, self.__logger)
        )

    def __event_handlers(self) -> list[BaseEventHandler]:
        def mine(event: Event, kind: type[ProcessTargetedEvent]) -> bool:
            return isinstance(event, kind) and event.process_matcher(self)

        handlers: list[BaseEventHandler] = [
            OnShutdown(on_shutdown=lambda event, context: self.shutdown(context)),
            CallOnEvent(
                lambda event: mine(event, ShutdownProcess), lambda event, context: self.shutdown(context)
            ),
            CallOnEvent(
                lambda event: mine(event, SignalProcess), lambda event, context: self.__signal(event)
            ),
            CallOnEvent(
                lambda event: isinstance(event, HurryShutdown), lambda event, context: self.__hurry.set()
            ),
            CallOnEvent(
                lambda event: isinstance(event, ProcessStdin) and event.action is self,
                lambda event, context: self.__child.write(event.text) if self.__child else None,
            ),
        ]
        if self.__on_exit is not None:
            handlers.append(OnProcessExit(target_action=self, on_exit=self.__on_exit))
        return handlers

    def __signal(self, event: SignalProcess) -> None:
        if self.__child is not None:
            self.__logger.info(f"sending signal '{event.signal_name}' to process[{self.name}]")
            self.__child.send_signal(event.signal)

    async def __run(self, context: LaunchContext) -> None:
        try:
            while await self.__run_once(context) and self.__may_respawn(context):
                if await _is_set_within(self.__stop_wanted, self.__wanted.respawn_delay):
                    break
                self.__retries_left -= 1
        finally:
            # The exit event is in the queue: its handler goes only after it.
            context.running_loop().call_soon(self.__forget_handlers, context)

    def __may_respawn(self, context: LaunchContext) -> bool:
        return (
            self.__wanted.respawn
            and self.__retries_left != 0
            and not context.is_shutdown
            and not self.__stop_wanted.is_set()
        )

    async def __run_once(self, context: LaunchContext) -> bool:
        """Run the program until it ends; return whether it could be started."""
        output = ProcessOutput(
            self.name, self.__output, lambda line: self.__output_format.format(line=line, this=self)
        )
        ended = context.running_loop().create_future()
        description = self.__description
        spec = ChildSpec(
            description.final_cmd,
            description.final_cwd,
            description.final_env or {},
            self.__wanted.emulate_tty,
        )
        try:
            child = ChildProcess(
                spec,
                context.running_loop(),
                context.process_guard,
                lambda stream, data: self.__take_output(context, output, stream, data),
                ended.set_result,
            )
        except OSError as error:
            self.__logger.error(
                f"cannot start process '{description.final_cmd[0]}': {error.strerror or error}"
            )
            self.__return_code = _COULD_NOT_START
            context.emit_event_sync(ProcessExited(returncode=_COULD_NOT_START, **self.__details(0)))
            output.close()
            return False
        self.__child = child
        self.__known_details = self.__details(child.pid)
        self.__logger.info(f"process started with pid [{child.pid}]")
        if self.__log_cmd:
            self.__logger.info(f"process details: cmd={description.final_cmd}, cwd={description.final_cwd}")
        context.emit_event_sync(ProcessStarted(**self.__details(child.pid)))
        self.__return_code = await ended
        self.__report_exit(child.pid, self.__return_code)
        context.emit_event_sync(ProcessExited(returncode=self.__return_code, **self.__details(child.pid)))
        if self.__stopping is not None:
            await self.__stopping
        child.close()
        output.close()
        self.__child = self.__stopping = None
        return True

    def __take_output(self, context: LaunchContext, output: ProcessOutput, stream: str, data: bytes) -> None:
        output.feed(stream, data)
        if self.__cached_output:
            self.__cache[stream] += data
        if self.__child is None:
            return
        kind: type[ProcessIO] = ProcessStdout if stream == "stdout" else ProcessStderr
        event = kind(text=data, **self.__details(self.__child.pid))
        if context.would_handle_event(event):
            context.emit_event_sync(event)

    def __report_exit(self, pid: int, code: int) -> None:
        if code == 0:
            self.__logger.info(f"process has finished cleanly [pid {pid}]")
        else:
            command = " ".join(self.__description.final_cmd)
            self.__logger.error(f"process has died [pid {pid}, exit code {code}, cmd '{command}'].")

    def __details(self, pid: int | None) -> dict[str, Any]:
        description = self.__description
        details = {
            "action": self,
            "name": description.final_name,
            "cmd": description.final_cmd,
            "cwd": description.final_cwd,
            "env": description.final_env,
        }
        return details if pid is None else {**details, "pid": pid}

    def __forget_handlers(self, context: LaunchContext) -> None:
        for handler in self.__handlers:
            if handler in context.event_handlers and not isinstance(handler, OnProcessExit):
                context.unregister_event_handler(handler)
        self.__handlers = []


def _default(value: Any, name: str, default: Any) -> Any:
    return LaunchConfiguration(name, default=default) if value is None else value


async def _is_set_within(event: asyncio.Event, timeout: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), timeout)
    except asyncio.TimeoutError:
        return False
    return True
