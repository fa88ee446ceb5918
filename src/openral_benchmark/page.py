"""A result as one HTML page that needs no network: rates with intervals, videos, every episode and provenance."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from openral_benchmark.embedded_videos import GALLERY_STYLE, thumbnails
from openral_core.html.episode_page_parts import begin, fact_rows, task_table


class Form(BaseModel):
    """Base of the forms of what pages show; a result has further keys, and Any is what is shown as it is."""

    model_config = ConfigDict(strict=True, defer_build=True)


class BenchmarkForm(Form):
    """What is shown of `benchmark`."""

    name: Any
    protocol: Any


class _LookForm(BenchmarkForm):
    render_profile: Any
    simulator: Any


class _ConfigForm(Form):
    vla_id: Any
    init_ids: Annotated[list[int], Field(min_length=2)]
    max_steps: Any
    deviations: list[str]


class _RateForm(Form):
    successes: int
    n_episodes: int
    success_rate: float
    wilson_95: Annotated[list[float], Field(min_length=2, max_length=2)]


class ReasonForm(Form):
    """What is shown of an episode without a result."""

    error: str | None


class _EpisodeForm(ReasonForm):
    task: Any
    init_id: Any
    success: Any
    steps: Any


class _ResultsForm(Form):
    avg_success_rate: float
    all_episodes: _RateForm
    tasks: dict[str, _RateForm]
    episodes: list[_EpisodeForm]


class _FilmForm(Form):
    file: str
    task: str
    success: Any
    init_id: Any
    steps: Any


class PageForm(Form):
    """The content of a result that `page` shows."""

    benchmark: _LookForm
    eval_config: _ConfigForm
    results: _ResultsForm
    provenance: dict[str, Any]
    engine: dict[str, Any] = {}
    films: list[_FilmForm] = []


def page(content: dict[str, Any], folder: Path) -> str:
    """Return the page of a result.

    Args:
        content: `openral_benchmark.execute.execute`'s result, or another one that has the form of `PageForm`.
        folder: of the run, in which its videos lie; those that are gone are left out.
    """
    config, results = content["eval_config"], content["results"]
    title = f"{config['vla_id']} on {content['benchmark']['name']}"
    parts = [
        begin(title, GALLERY_STYLE),
        *_summary(content),
        *task_table(results["tasks"], results["episodes"]),
        *thumbnails(content.get("films", []), folder),
        *_errors(results["episodes"]),
        "<h2>Where it comes from</h2><table id=provenance>",
        *fact_rows(content["provenance"]),
        *fact_rows({f"run {name}": value for name, value in content.get("engine", {}).items()}),
        "</table></html>\n",
    ]
    return "".join(parts)


def _summary(content: dict[str, Any]) -> Iterator[str]:
    benchmark, config, results = content["benchmark"], content["eval_config"], content["results"]
    everything = results["all_episodes"]
    low, high = everything["wilson_95"]
    yield (
        f"<p><b>{everything['successes']:d} of {everything['n_episodes']:d}</b> episodes solved, mean over tasks "
        f"<b>{results['avg_success_rate']:.3f}</b>, 95 % interval of all episodes {low:.3f} to {high:.3f}.</p>"
    )
    yield (
        f"<p>{escape(str(benchmark['protocol']))} Initial states {config['init_ids'][0]:d} to "
        f"{config['init_ids'][1]:d}, at most {escape(str(config['max_steps']))} steps. Look: "
        f"{escape(str(benchmark['render_profile']))}. {escape(str(benchmark['simulator']))}.</p>"
    )
    yield from (
        f"<p class=note>Differs from the protocol: {escape(text)}.</p>" for text in config["deviations"]
    )


def _errors(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the HTML of the reasons why episodes have no result, each with its number of episodes."""
    reasons = [row["error"] for row in rows if row["error"]]
    if reasons:
        yield "<h2>Episodes without a result</h2><ul>"
        yield from (f"<li>{reasons.count(text)}: {escape(text)}" for text in sorted(set(reasons)))
        yield "</ul>"
