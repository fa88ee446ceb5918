"""Commands and verbs that packages of other people bring by entry points, as those of `ros2cli` in ROS 2."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rclpy
from rclpy.executors import ExternalShutdownException
from ros2_embedded.install.__main__ import main as install
from ros2_embedded.install.installer import site_packages
from ros2cli.cli import main

MANIFEST = "<package format='3'><name>ros2fleetcli</name><version>1.2.3</version>\
<export><build_type>ament_python</build_type></export></package>"
ENTRY_POINTS = {
    "ros2cli.command": {
        "fleet": "ros2fleetcli.command:FleetCommand",
        "sunk": "ros2fleetcli.no_such_module:SunkCommand",
    },
    "ros2cli.extension_point": {"ros2fleetcli.verb": "ros2cli.verb:VerbExtension"},
    "ros2fleetcli.verb": {
        "list_ships": "ros2fleetcli.verb:ListShipsVerb",
        "fail": "ros2fleetcli.verb:FailVerb",
        "hidden": "ros2fleetcli.verb:FailVerb",
        "old": "ros2fleetcli.verb:OldVerb",
        "lost": "ros2fleetcli.verb:NoSuchVerb",
    },
    "ros2topic.verb": {
        "shout": "ros2fleetcli.verb:ShoutVerb",
        "lost": "ros2fleetcli.no_such_module:X",
        "quits": "ros2fleetcli.quits:X",
        "list": "ros2fleetcli.verb:ShoutVerb",
    },
    "ros2doctor.verb": {"hail": "ros2fleetcli.verb:HailVerb"},
    "ros2bag.verb": {"weigh": "ros2fleetcli.verb:HailVerb"},
}
FILES = {
    "ros2fleetcli/__init__.py": "",
    "ros2fleetcli/quits.py": "raise SystemExit('no display')",
    "ros2fleetcli/api.py": """
import rclpy
from controller_manager_msgs.srv import ListControllers
from ros2cli.node.direct import DirectNode
from ros2node.api import NodeNameCompleter
from ros2param.api import call_list_parameters


def ships_of(node, harbour):
    client = node.create_client(ListControllers, f"{harbour}/list_controllers")
    if not client.wait_for_service(10.0):
        raise RuntimeError(f"no harbour {harbour}")
    future = client.call_async(ListControllers.Request())
    rclpy.spin_until_future_complete(node, future)
    return future.result()


class ShipNameCompleter:
    def __call__(self, prefix, parsed_args, **kwargs):
        with DirectNode(parsed_args) as node:
            return call_list_parameters(node=node, node_name=parsed_args.harbour)


def add_harbour(parser):
    argument = parser.add_argument("-c", "--harbour", default="/harbour", help="Name of its node")
    argument.completer = NodeNameCompleter(include_hidden_nodes_key="include_hidden_nodes")
    parser.add_argument("--include-hidden-nodes", action="store_true", help="Consider hidden nodes as well")
""",
    "ros2fleetcli/command.py": '''
from ros2cli.command import CommandExtension, add_subparsers_on_demand


class FleetCommand(CommandExtension):
    """Various fleet related sub-commands."""

    def add_arguments(self, parser, cli_name):
        self._subparser = parser
        parser.add_argument("--flag", default="white")
        add_subparsers_on_demand(
            parser, cli_name, "_verb", "ros2fleetcli.verb", hide_extensions=["hidden"], required=False
        )

    def main(self, *, parser, args):
        if not hasattr(args, "_verb"):
            self._subparser.print_help()
            return 0
        extension = getattr(args, "_verb")
        return extension.main(args=args)
''',
    "ros2fleetcli/verb.py": '''
from ros2cli.node.direct import add_arguments
from ros2cli.node.strategy import NodeStrategy
from ros2cli.plugin_system import satisfies_version
from ros2cli.verb import VerbExtension
from ros2bag.verb import VerbExtension as BagVerb
from ros2topic.verb import VerbExtension as TopicVerb

from ros2fleetcli.api import ShipNameCompleter, add_harbour, ships_of


class ListShipsVerb(VerbExtension):
    """Output the ships of a harbour."""

    def add_arguments(self, parser, cli_name):
        add_arguments(parser)
        parser.add_argument("prefix", nargs="?", default="").completer = ShipNameCompleter()
        parser.add_argument("--verbose", "-v", action="store_true", help=f"as {cli_name} says")
        add_harbour(parser)

    def main(self, *, args):
        with NodeStrategy(args) as node:
            for each in ships_of(node, args.harbour).controller:
                print(f"{args.prefix}{each.name} [{each.type}] {args.flag}")


class FailVerb(VerbExtension):
    """Fail."""

    def add_arguments(self, parser, cli_name):
        parser.add_argument("how")

    def main(self, *, args):
        if args.how == "raise":
            raise RuntimeError("the harbour does not answer")
        return {"text": "a text is an error", "number": 7, "true": True}[args.how]


class OldVerb(VerbExtension):
    """Be too old."""

    def __init__(self):
        super().__init__()
        satisfies_version("0.1", "^0.2")


class ShoutVerb(TopicVerb):
    """Print words in capital letters."""

    def add_arguments(self, parser, cli_name):
        parser.add_argument("words", nargs="+")
        parser.add_argument("-s", "--suffix", default="")

    def main(self, *, args):
        words = " ".join(args.words).upper()
        print(f"{self.NAME}: {words}{args.suffix} {args.include_hidden_topics}")


class HailVerb(BagVerb):
    """Hail."""

    def main(self, *, args):
        print(f"hail {self.NAME}")
''',
}


def write_sources(folder: Path) -> None:
    points = {
        group: [f"{name} = {value}" for name, value in of.items()] for group, of in ENTRY_POINTS.items()
    }
    setup = "from setuptools import find_packages, setup\n\nsetup(name='ros2fleetcli', version='1.2.3', "
    setup += f"packages=find_packages(), zip_safe=True, entry_points={points!r})\n"
    for name, text in {**FILES, "setup.py": setup, "package.xml": MANIFEST}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write_as_pip_does(folder: Path) -> None:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    information = folder / "ros2fleetcli-1.2.3.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: ros2fleetcli\nVersion: 1.2.3\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in of.items())
        for group, of in ENTRY_POINTS.items()
    )
    (information / "entry_points.txt").write_text("\n".join(groups))


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package is installed as pip does it, for this test."""
    write_as_pip_does(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    forget()


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "ros2fleetcli"]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def harbour() -> Iterator[None]:
    """A node with the service that the verb of the package calls."""
    controllers = importlib.import_module("controller_manager_msgs.srv")
    states = importlib.import_module("controller_manager_msgs.msg")

    def ships(_: Any, response: Any) -> Any:
        response.controller = [states.ControllerState(name="tug", type="boat")]
        return response

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("harbour", context=context)
    node.create_service(controllers.ListControllers, "~/list_controllers", ships)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin() -> None:
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin)
    thread.start()
    yield
    context.try_shutdown()
    thread.join()
    node.destroy_node()


class Told:
    """What a command printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], words: str) -> None:
        self.code = main(words.split())
        self.out, self.err = capsys.readouterr()


def test_a_command_of_a_package_of_sources_lists_what_a_service_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], harbour: None
) -> None:
    write_sources(tmp_path / "src/ros2fleetcli")
    assert install([str(tmp_path / "src"), "--prefix", str(tmp_path / "prefix")]) == 0
    monkeypatch.syspath_prepend(str(site_packages(tmp_path / "prefix")))
    capsys.readouterr()
    told = Told(capsys, "fleet --flag red list_ships my- -v --spin-time 0.1 -c /harbour")
    forget()
    assert (told.code, told.out) == (0, "my-tug [boat] red\n"), told.err


def test_help_lists_plug_ins_and_says_which_are_broken(
    fleet: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    told = Told(capsys, "--help")
    assert told.code == 0
    assert re.search(r"\n  fleet +Various fleet related sub-commands\n", told.out)
    assert "sunk" not in told.out
    assert caplog.messages == [
        "plug-in 'sunk' of 'ros2cli.command' cannot be used: ModuleNotFoundError: "
        "No module named 'ros2fleetcli.no_such_module'"
    ]


def test_help_of_a_command_of_a_package(
    fleet: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["fleet", "--help"])
    out, err = capsys.readouterr()
    assert end.value.code == 0
    assert "usage: ros2 fleet " in out
    assert "Various fleet related sub-commands" in out
    assert "list_ships  Output the ships of a harbour\n" in out
    assert "fail        Fail\n" in out
    assert "hidden " not in out
    assert "Call `ros2 fleet <command> -h` for more detailed usage." in out
    assert err == ""
    assert [line.partition(" cannot")[0] for line in caplog.messages] == [
        "plug-in 'lost' of 'ros2fleetcli.verb'",
        "plug-in 'old' of 'ros2fleetcli.verb'",
    ]
    told = Told(capsys, "fleet")
    assert told.code == 0
    assert told.out == out


def test_help_of_a_verb_of_a_package(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["fleet", "list_ships", "--help"])
    out, err = capsys.readouterr()
    assert end.value.code == 0
    assert "Output the ships of a harbour" in out
    assert "as ros2 fleet list_ships says" in out
    assert err == ""


def test_verbs_for_commands_of_this_distribution(
    fleet: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    told = Told(capsys, "topic shout two words -s !")
    assert (told.code, told.out) == (0, "shout: TWO WORDS! False\n"), told.err
    told = Told(capsys, "topic --include-hidden-topics shout a")
    assert told.out == "shout: A True\n", told.err
    assert Told(capsys, "doctor hail").out == "hail hail\n"
    assert Told(capsys, "bag weigh").out == "hail weigh\n"
    told = Told(capsys, "topic --help")
    assert "  shout  Print words in capital letters\n" in told.out
    assert "  list   Output a list of available topics\n" in told.out  # ours goes before a plug-in's
    assert [line.partition(" cannot")[0] for line in caplog.messages] == [
        "plug-in 'lost' of 'ros2topic.verb'",
        "plug-in 'quits' of 'ros2topic.verb'",
    ]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("fleet fail raise", 1, "the harbour does not answer"),
        ("fleet fail text", 1, "a text is an error"),
        ("fleet fail number", 7, ""),
        ("fleet fail true", 1, ""),
        ("fleet lost", 1, "plug-in 'lost' of 'ros2fleetcli.verb' cannot be used: "),
        ("fleet old", 1, "plug-in 'old' of 'ros2fleetcli.verb' cannot be used: "),
        (
            "sunk",
            1,
            "plug-in 'sunk' of 'ros2cli.command' cannot be used: ModuleNotFoundError: No module named ",
        ),
        ("topic lost", 1, "plug-in 'lost' of 'ros2topic.verb' cannot be used: ModuleNotFoundError"),
        ("topic quits", 1, "plug-in 'quits' of 'ros2topic.verb' cannot be used: SystemExit: no display"),
        ("fleett", 1, "did you mean 'fleet'?"),
        ("topic shoot", 1, "did you mean 'shout'?"),
    ],
)
def test_ends_that_are_told_in_one_line(
    words: str, code: int, told: str, fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = Told(capsys, words)
    assert ended.code == code
    assert told in ended.err
    assert ended.err.count("\n") == (1 if told else 0)


def test_what_is_not_asked_for_is_not_imported(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Told(capsys, "pkg prefix rclpy").code == 0
    assert not any(name.startswith("ros2fleetcli") for name in sys.modules)


def test_extensions_and_their_points(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = Told(capsys, "extension_points").out.splitlines()
    assert "ros2cli.command: The base of commands that other packages add to `ros2`" in points
    assert any(line.startswith("ros2fleetcli.verb: ") for line in points)
    assert any(line.startswith("ros2topic.verb: ") for line in points)
    told = Told(capsys, "extensions")
    assert "ros2fleetcli.verb\n  fail: Fail\n  hidden: Fail\n  list_ships: Output the ships" in told.out
    assert "  topic: Various topic related sub-commands\n" in told.out
    assert "lost" not in told.out
    told = Told(capsys, "extensions --all --verbose")
    assert "- lost: \n" in told.out
    assert "-   reason: No module named 'ros2fleetcli.no_such_module'\n" in told.out
    assert "    module_name: ros2fleetcli.verb\n    attributes: ListShipsVerb\n" in told.out


def test_names_that_such_packages_import(fleet: Path) -> None:
    from ros2cli.command import add_subparsers, get_command_extensions
    from ros2cli.entry_points import get_all_entry_points, get_entry_points, load_entry_points
    from ros2cli.verb import add_task_arguments, get_verb_extensions

    assert get_entry_points("ros2cli.command")["fleet"].value == "ros2fleetcli.command:FleetCommand"
    assert set(load_entry_points("ros2cli.command")) >= {"fleet"}
    assert list(load_entry_points("ros2topic.verb", exclude_names=["list"])) == ["shout"]
    distribution, point = get_all_entry_points()["ros2fleetcli.verb"]["fail"]
    assert (distribution.version, point.name) == ("1.2.3", "fail")
    verbs = get_verb_extensions("ros2fleetcli.verb")
    assert sorted(verbs) == ["fail", "hidden", "list_ships"]
    assert verbs["list_ships"].NAME == "list_ships"
    assert list(get_command_extensions("ros2cli.command")) == ["fleet"]
    assert callable(add_task_arguments)
    parser = importlib.import_module("argparse").ArgumentParser()
    add_subparsers(parser, "ros2 fleet", "_verb", {"fail": verbs["fail"]})
    args = parser.parse_args(["fail", "number"])
    assert args._verb.main(args=args) == 7
    with pytest.raises(SystemExit):
        parser.parse_args([])


def test_main_of_another_program(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ros2cli.command import CommandExtension

    class Plain(CommandExtension):
        """Print a word."""

        def add_arguments(self, parser: Any, cli_name: str) -> None:
            parser.add_argument("word", help=cli_name)

        def main(self, *, parser: Any, args: Any) -> int:
            sys.stdout.write(f"{args.word}\n")
            return 3

    assert main(argv=["hello"], script_name="say", extension=Plain()) == 3
    assert capsys.readouterr().out == "hello\n"
