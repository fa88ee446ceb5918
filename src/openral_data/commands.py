"""The commands of `openral data`, which import what they need when they run."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_core.cli.printable import printable
from openral_core.errors import NotFoundError
from openral_data.record_commands import record

app = typer.Typer(help="Recorded episodes: record, look, check, repair, replay.", no_args_is_help=True)
app.add_typer(record, name="record")


class Target(str, Enum):
    """Format to which a recording is converted."""

    bags = "bags"
    rerun = "rerun"


Recording = Annotated[Path, typer.Argument(help="Folder of a recording, or of a LeRobot v3 dataset.")]


@app.command()
def repair(folder: Recording) -> None:
    """Make episodes of what a recorder left behind when it was killed or its disk was full."""
    from openral_data.recording.repair import repair_recording
    from openral_data.recording_folder import recordings_in

    lines = [line for root in recordings_in(folder) for line in repair_recording(root)]
    for line in lines or ["nothing was left behind"]:
        typer.echo(printable(line))
    raise typer.Exit(1 if any("not repaired" in line for line in lines) else 0)


@app.command("list")
def list_datasets(
    folder: Annotated[Path, typer.Argument(help="Looked through with the folders below it.")] = Path("runs"),
) -> None:
    """Print the datasets in a folder and below it."""
    from openral_core.cli.tables import console
    from openral_data.datasets.listing import list_table

    console().print(list_table(folder))


@app.command()
def show(folder: Recording) -> None:
    """Print the episodes of a dataset: what was asked for, who did it, how it ended, and what was dropped."""
    from openral_core.cli.tables import console
    from openral_data.datasets.listing import dataset_folder, episode_table
    from openral_data.lerobot_v3 import open_dataset

    console().print(episode_table(open_dataset(dataset_folder(folder))))


@app.command()
def check(
    folder: Recording,
    videos: Annotated[
        bool, typer.Option("--videos/--no-videos", help="Decode every picture, or look at headers only.")
    ] = True,
) -> None:
    """Validate a LeRobot v3 dataset frame by frame: one line for each fault, exit code 1 with any."""
    from openral_data.datasets.check import dataset_faults
    from openral_data.datasets.listing import dataset_folder

    count = 0
    for fault in dataset_faults(dataset_folder(folder), videos=videos):
        count += 1
        typer.echo(printable(fault))
    typer.echo("no faults" if not count else f"{count} fault{'s' if count > 1 else ''}")
    raise typer.Exit(1 if count else 0)


@app.command()
def replay(
    folder: Recording,
    episode: Annotated[int, numbers.count("Number of the episode.", "--episode", least=0)] = 0,
    scene: Annotated[str, typer.Option(help="Name or path; default: the one that was recorded.")] = "",
) -> None:
    """Send an episode to its simulator through the bridge, and print how far it comes from the recording."""
    from openral_data.datasets.listing import dataset_folder
    from openral_data.replay_deviation import load_episode
    from openral_data.ros.replay_node import replay as send

    found = load_episode(dataset_folder(folder), episode, scene)
    for line in send(found).lines(found):
        typer.echo(line)


@app.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Recordings or LeRobot v3 datasets, in this order.")],
    out: Annotated[Path, typer.Option(help="Folder of the new dataset.")],
) -> None:
    """Make one dataset of several with the same columns; the others stay."""
    from openral_data.datasets.listing import dataset_folder
    from openral_data.datasets.merge_and_split import EpisodeSelection, write_selection
    from openral_data.lerobot_v3 import open_dataset

    chosen = [EpisodeSelection.of(open_dataset(dataset_folder(folder))) for folder in folders]
    typer.echo(f"{_episodes(write_selection(out, chosen))} in {out}")


@app.command()
def split(
    folder: Recording,
    episodes: Annotated[str, typer.Option(help="Numbers, such as 0,3-5.")],
    out: Annotated[Path, typer.Option(help="Folder of the new dataset.")],
) -> None:
    """Make a dataset of some episodes of another, which stays as it is."""
    from openral_data.datasets.listing import dataset_folder
    from openral_data.datasets.merge_and_split import EpisodeSelection, parse_episodes, write_selection
    from openral_data.lerobot_v3 import open_dataset

    wanted = parse_episodes(episodes)
    chosen = EpisodeSelection.of(open_dataset(dataset_folder(folder)), wanted)
    typer.echo(f"{_episodes(write_selection(out, [chosen]))} in {out}")


@app.command()
def convert(
    sources: Annotated[list[Path], typer.Argument(help="Folders of bags, MCAP files; or one recording.")],
    out: Annotated[Path, typer.Option(help="Folder of the recording, which may hold one already.")],
    scene: Annotated[
        str, typer.Option(help="Name or path of the scene that they were recorded in; a recording says so.")
    ] = "",
    to: Annotated[Target, typer.Option("--to", help="What a recording becomes.")] = Target.bags,
    whole: Annotated[
        bool, typer.Option("--whole/--by-goal", help="Each bag is one episode, or each goal in it.")
    ] = False,
) -> None:
    """Convert bags to a LeRobot v3 dataset, or a recording to bags or Rerun's files.

    The bags hold the topics of a deployment.
    """
    from openral_data.datasets.listing import dataset_folder, is_dataset
    from openral_data.lerobot_v3 import open_dataset

    if len(sources) == 1 and is_dataset(sources[0]):
        if to is Target.rerun:
            from openral_data.rerun_export import export_rerun

            count = export_rerun(open_dataset(dataset_folder(sources[0])), out)
            typer.echo(f"{_episodes(count)} in {out}; look with: rerun {out}/*.rrd")
            return
        from openral_data.ros.bag_export import export_bags

        exported = export_bags(open_dataset(dataset_folder(sources[0])), scene, out)
        typer.echo(f"{exported} bag{'s' * (exported != 1)} in {out / 'bags'}")
        return
    for source in sources:
        if not source.exists():
            raise NotFoundError(f"there is no {source}")
    if to is Target.rerun:
        raise typer.BadParameter(
            "only one recording becomes Rerun's files; convert bags to a recording first"
        )
    if not scene:
        raise typer.BadParameter("bags do not say in which scene they were recorded; name it with --scene")
    from openral_data.recording_folder import RecordingFolder
    from openral_data.ros.bag_conversion import convert_bags

    count = convert_bags(
        sources, scene, out, whole=whole, say=lambda line, trouble: typer.echo(printable(line), err=trouble)
    )
    typer.echo(f"{_episodes(count)} in {out}")
    raise typer.Exit(0 if count and not RecordingFolder(out).unfinished() else 1)


def _episodes(count: int) -> str:
    return f"{count} episode{'s' * (count != 1)}"
