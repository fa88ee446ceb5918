"""`openral prompt "open the drawer, then close it"`: say a sentence, follow the mission."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from typing import Any
from uuid import uuid4

import rclpy
from openral.msg import Mission, MissionStep
from openral.msg import Prompt as PromptMessage
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.markup import escape

from openral_core.cli.printable import MAX_SHOWN, plain_line
from openral_core.graph.namespaces import (
    DEFAULT_NAMESPACE,
    estop_reset_command,
    namespace_option,
    ros_arguments,
)
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.ros.qos import LATCHED, MISSION_LOG
from openral_core.ros.session_certificates import refused_or
from openral_reasoner.mission.mission_view import ENDED, table_of

RESET = "estop_reset"
"""The service that a mission's message names where the emergency stop is in its way."""
DONE, FAILED, NOBODY, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: the mission was done, or the words answered; it failed, was stopped, replaced or refused; no reasoner
took the sentence, or it went away; Ctrl-C."""
AWAY_S = 20.0
"""[s] without a reasoner after which its mission is followed no more; a launch starts one that broke down again."""
SETTLE_S = 1.0
"""[s] for which words that closed a question, and with it the mission, may yet turn out to have been a stop: the
mission and its log come on two topics, in either order."""


class _Following(Console):
    """A console that goes on silently when its reader has gone, such as `head -1`, so that the exit code is right."""

    def on_broken_pipe(self) -> None:
        """Print no more."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Absence:
    """Notices that the reasoner whose mission is followed has left the graph, and does not come back."""

    def __init__(self, node: Node) -> None:
        """Take the node that listens."""
        self._node, self._seen_s = node, time.monotonic()

    def lasts(self) -> bool:
        """Return whether no reasoner was there for `AWAY_S`."""
        if self._node.count_publishers("mission"):
            self._seen_s = time.monotonic()
        return time.monotonic() - self._seen_s > AWAY_S

    @staticmethod
    def words(where: str) -> str:
        """Return what the user is told; `where` is the option that names the deployment."""
        return (
            "The reasoner went away in the middle of the mission, and what it began may go on; start it again, or "
            f"stop the arm; `openral mission show{where}` tells once it is back."
        )


class PromptNode(GuardedCallbacks, Node):
    """Sends one prompt and keeps the newest mission."""

    def __init__(self, sentence: str) -> None:
        self.prompt_id = uuid4().hex
        super().__init__(f"prompt_{self.prompt_id[:8]}", namespace=DEFAULT_NAMESPACE)
        self.sentence = sentence
        self.mission: Any = None
        self.said = False
        """Whether the sentence was published."""
        self.taken = False
        """Whether the reasoner has shown a mission of this prompt, took it as an answer, or logged it."""
        self.waits = False
        """Whether the reasoner is planning the sentence while another mission is in work."""
        self.became = ""
        """What a sentence that began no mission was taken for: stop, refused or answered; empty: it began one."""
        self.reason = ""
        """Why, in the reasoner's words."""
        self.steps: deque[Any] = deque()
        """Steps of the mission that is followed, which were not printed yet."""
        self.told_end = False
        """Whether its last step has come."""
        self._asked: tuple[str, str] | None = None
        self._asked_stamp = (0, 0)
        self._settled_s = 0.0
        """[s] monotonic, from which on the sentence counts as an answer."""
        self._ended: str | None = None
        """Id of the mission that had already ended when the sentence was published."""
        self._publisher = self.create_publisher(PromptMessage, "prompt", 10)
        self.create_subscription(Mission, "mission", self._on_mission, LATCHED)
        self.create_subscription(MissionStep, "mission_log", self._on_step, MISSION_LOG)

    def _on_step(self, step: Any) -> None:
        of_question = self._asked is not None and step.mission == self._asked[0]
        if step.mission == self.prompt_id or (of_question and _stamp(step) > self._asked_stamp):
            self.steps.append(step)
            self.told_end = self.told_end or step.kind == "mission"
        if step.mission != self.prompt_id:
            return
        self.waits = True
        if step.kind in ("stop", "refused", "answered") and not step.state:  # a mission's own steps have one
            self.became, self.reason, self.taken = step.kind, plain_line(step.reason, MAX_SHOWN), True

    def _on_mission(self, mission: Any) -> None:
        self.mission = mission
        if not self.taken and self._answered(mission):
            self._settled_s = time.monotonic() + SETTLE_S
        self.taken = self.taken or mission.id == self.prompt_id or self._answered(mission)

    def _answered(self, mission: Any) -> bool:
        """Return whether the question that was open at first is closed in a newer state of the same mission."""
        return self._asked is not None and mission.id == self._asked[0] and mission.question != self._asked[1]

    @property
    def topic(self) -> str:
        """Name of the topic on which the sentence is published."""
        return str(self._publisher.topic_name)

    @property
    def replaced(self) -> bool:
        """Whether another mission has replaced the one that is followed."""
        followed = (self.prompt_id, self._asked[0] if self._asked else self.prompt_id)
        return self.taken and not self.became and self.mission.id not in followed

    @property
    def changed_nothing(self) -> bool:
        """Whether the sentence began no mission, so that the mission that is shown is an earlier one."""
        return bool(self.became) and (self.became != "stop" or self.mission.id == self._ended)

    def send(self, patience_s: float) -> bool:
        """Publish the sentence once a reasoner is in the graph and has shown its mission; False if none
        came in time."""
        end = time.monotonic() + patience_s
        while self.mission is None or not self._publisher.get_subscription_count():
            if time.monotonic() > end:
                return False
            rclpy.spin_once(self, timeout_sec=0.05)
        if self.mission.state in (*ENDED, "idle"):
            self._ended = self.mission.id
        if self.mission.question:
            self._asked = (self.mission.id, self.mission.question)
            self._asked_stamp = _stamp(self.mission)
        message = PromptMessage(id=self.prompt_id, text=self.sentence, source="cli")
        message.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(message)
        self.said = True
        return True

    @property
    def exit_code(self) -> int | None:
        """Exit code of the command; None while the mission is running."""
        mission = self.mission
        if self.became == "stop":
            return DONE if mission.state in (*ENDED, "idle") else None
        if self.became:
            return DONE if self.became == "answered" else FAILED
        if not self.taken or time.monotonic() < self._settled_s:
            return None
        if self.replaced:
            return FAILED
        return (DONE if mission.state == "done" else FAILED) if mission.state in ENDED else None


def converse(sentence: str, patience_s: float, namespace: str = DEFAULT_NAMESPACE) -> int:
    """Say a sentence, show what becomes of it, and return the exit code; Ctrl-C leaves the mission running."""
    console = _Following()
    rclpy.init(args=ros_arguments(namespace), signal_handler_options=SignalHandlerOptions.NO)
    node = PromptNode(sentence)
    try:
        code = _follow(node, console, patience_s, namespace_option(namespace))
        if code == FAILED and RESET in node.mission.message:
            command = estop_reset_command(namespace)
            console.print(f"once all is safe: {command}", markup=False, highlight=False, soft_wrap=True)
        return code
    except KeyboardInterrupt:
        words = _interrupted(node, namespace_option(namespace))
        console.print(words, style="yellow", markup=False, highlight=False, soft_wrap=True)
        return INTERRUPTED
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def _interrupted(node: PromptNode, where: str) -> str:
    """Return what has become of the sentence at Ctrl-C; `where`: the option that names the deployment."""
    if not node.said:
        return "Nothing was said: no reasoner had been found yet."
    if not node.taken:
        return (
            f"The sentence was said, but no reasoner has taken it yet; `openral mission show{where}` tells."
        )
    if node.became == "stop":
        return f"The reasoner is stopping; `openral mission show{where}` tells when it has."
    return f"The mission goes on; `openral prompt stop{where}` stops it."


def _follow(node: PromptNode, console: Console, patience_s: float, where: str) -> int:
    if not node.send(patience_s):
        advice = refused_or(f"Start one with `openral deploy sim{where}`.")
        console.print(f"[red]No reasoner listens on {node.topic}.[/red] {escape(advice)}", soft_wrap=True)
        return NOBODY
    end = time.monotonic() + patience_s
    printer, absence = _StepPrinter(node, console, where), Absence(node)
    with console.status("waiting for the reasoner") as status:
        while (code := node.exit_code) is None:
            rclpy.spin_once(node, timeout_sec=0.1)
            if absence.lasts():
                console.print(
                    Absence.words(where), markup=False, highlight=False, style="red", soft_wrap=True
                )
                return NOBODY
            if not node.taken:
                if time.monotonic() > end and not node.waits:
                    console.print("[red]The reasoner did not take the sentence.[/red] Is its node active?")
                    return NOBODY
                continue
            status.update(escape(plain_line(node.mission.message, MAX_SHOWN)))
            printer.print_new()
        printer.print_rest()
    if node.became:
        style = "green" if code == DONE else "red"
        console.print(node.reason, markup=False, highlight=False, style=style, soft_wrap=True)
        if node.became != "stop" and node.mission.state == "active":
            goes_on = f'"{plain_line(node.mission.text, MAX_SHOWN)}" is in work and goes on.'
            console.print(goes_on, markup=False, highlight=False, soft_wrap=True)
    elif node.replaced:
        console.print(
            f'The mission was replaced by "{plain_line(node.mission.text, MAX_SHOWN)}".', markup=False
        )
    if node.changed_nothing or node.replaced:
        return code
    if node.mission.tasks:
        console.print(table_of(node.mission))
    style = "green" if code == DONE else "red"
    words = plain_line(node.mission.message, MAX_SHOWN)
    console.print(words, markup=False, highlight=False, style=style, soft_wrap=True)
    return code


class _StepPrinter:
    """Prints the steps of the mission that is followed; its end is printed by `_follow`."""

    def __init__(self, node: PromptNode, console: Console, where: str) -> None:
        """Take the node that listens, and the option that names the deployment."""
        self._node, self._console, self._where = node, console, where
        self._asks = False

    def print_new(self) -> None:
        """Print the steps that have come. Verdicts are left out: the step that follows repeats their reason."""
        while self._node.steps:
            step = self._node.steps.popleft()
            if step.state and step.kind not in ("verdict", "mission"):
                self._print(plain_line(step.reason, MAX_SHOWN))
            self._asks = step.kind == "question"
        mission = self._node.mission
        if self._asks and mission.question:
            self._asks = False
            answers = [plain_line(answer) for answer in mission.answers]
            words, others = answers[:1] or ['"…"'], answers[1:]
            these = f", or by {', '.join(others)}" if others else ""
            self._print(f"It is answered by `openral prompt {words[0]}{self._where}`{these}.")

    def print_rest(self) -> None:
        """Wait for the last steps of a mission that has ended, and print them."""
        end = time.monotonic() + SETTLE_S
        followed = self._node.taken and not (self._node.became or self._node.replaced)
        while followed and not self._node.told_end and time.monotonic() < end:
            rclpy.spin_once(self._node, timeout_sec=0.05)
        self.print_new()

    def _print(self, words: str) -> None:
        self._console.print(words, markup=False, highlight=False, soft_wrap=True)


def _stamp(message: Any) -> tuple[int, int]:
    stamp = message.header.stamp
    return stamp.sec, stamp.nanosec
