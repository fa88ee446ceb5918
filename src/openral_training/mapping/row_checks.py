"""Checks that the rows of a dataset are complete and can be trained on; one line per mismatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import DatasetError
from openral_data.lerobot_v3 import Dataset
from openral_training.mapping.dataset_recipe import SkillRecipe
from openral_training.mapping.vectors import kept_episodes, spans, usable_spans

FETCH = "fetch the whole dataset again"
MOST_NAMED = 12
"""Most episodes that one line lists."""

Span = tuple[int, int, int]


def row_faults(dataset: Dataset, recipe: SkillRecipe) -> Iterator[str]:
    """Yield the mismatches of the rows with `meta/`, and the episodes and values that cannot be trained on."""
    names = recipe.features
    table = dataset.columns(["index", "timestamp", "task_index", *names])
    broken = _order_fault(dataset, table["index"])
    if broken:
        yield broken
        return
    everything, kept = spans(dataset), spans(dataset, recipe.leave_out)
    unknown = sorted(set(recipe.leave_out) - {number for number, _, _ in everything})
    if unknown:
        what = f"there is no episode {unknown[0]}"
        yield recipe.fault(("leave_out",), what, f"the dataset has 0 to {len(everything) - 1}")
    if not kept:
        yield recipe.fault(("leave_out",), "leaves nothing to learn from", "leave fewer episodes out")
        return
    kept = kept_episodes(dataset, recipe)
    if not kept:
        ended = ", ".join(sorted({str(outcome) for outcome in dataset.episodes.get("outcome", ())}))
        what = f"no episode that is not left out ended in {recipe.only_outcome}"
        yield recipe.fault(("only_outcome",), what, f"they say {ended or 'nothing of it'}; remove the line")
        return
    yield from _length_faults(recipe, kept)
    yield from _rate_faults(dataset, table["timestamp"], kept)
    for name in names:
        yield from _finite_faults(dataset, name, table[name].reshape(len(dataset), -1), kept)
    if not any(end > first for _, first, end in usable_spans(dataset, recipe)):
        what = "leaves no frame to learn from" if recipe.only_where else "rules out every frame"
        key = "only_where" if recipe.only_where else "never_where"
        yield recipe.fault((key,), what, "record episodes in which somebody commands, or remove the line")
    used = {int(task) for _, first, end in kept for task in np.unique(table["task_index"][first:end])}
    yield from _word_faults(dataset, recipe, used)


def _order_fault(dataset: Dataset, index: NDArray[Any]) -> str:
    """Return the mismatch of the order of the rows, or of the episodes with them; empty where there is none."""
    stated, episodes = len(dataset), spans(dataset)
    firsts, ends = [first for _, first, _ in episodes], [end for _, _, end in episodes]
    if not np.array_equal(index, np.arange(stated)):
        return f"{dataset.root / 'data'}: the rows are not in the order of their index; {FETCH}"
    if [*firsts, stated] != [0, *ends] or stated == 0:
        path = dataset.root / "meta" / "episodes"
        return f"{path}: do not cover the {stated} rows one after another; {FETCH}"
    return ""


def _length_faults(recipe: SkillRecipe, kept: list[Span]) -> Iterator[str]:
    size = recipe.manifest.chunk_size
    steps = recipe.action_steps
    short = {number: steps * (end - first) for number, first, end in kept if steps * (end - first) < size}
    if short:
        what = f"{size}, but {_listed(short)} is shorter (the shortest has {min(short.values())} actions)"
        fix = f"write chunk_size: {min(short.values())}, or leave_out: {sorted(short)[:MOST_NAMED]}"
        yield recipe.fault(("manifest", "chunk_size"), what, fix)


def _rate_faults(dataset: Dataset, stamps: NDArray[Any], kept: list[Span]) -> Iterator[str]:
    fps = float(dataset.info["fps"])
    for number, first, end in kept:
        since: NDArray[np.float64] = stamps[first:end].astype(np.float64) - float(stamps[first])
        late: NDArray[np.float64] = np.abs(since - np.arange(end - first) / fps) * fps
        wrong = ~(late <= 0.5)  # nan, of an empty cell, is no time
        if wrong.any():
            row = int(np.argmax(wrong))
            yield (
                f"{dataset.root / 'meta' / 'info.json'}: fps is {fps:g}, but frame {row} of episode {number} stands at "
                f"{since[row]:.3f} s and not at {row / fps:.3f} s; correct fps, or record at a steady rate"
            )
            return


def _finite_faults(dataset: Dataset, name: str, rows: NDArray[Any], kept: list[Span]) -> Iterator[str]:
    bad: NDArray[np.bool_] = np.asarray(~np.isfinite(rows.astype(np.float64)).all(axis=1))
    where = {number: int(np.argmax(bad[first:end])) for number, first, end in kept if bad[first:end].any()}
    if where:
        number, frame = next(iter(where.items()))
        yield (
            f"{dataset.root / 'data'}: {name} is not finite in {_listed(where)} (first: episode {number}, frame "
            f"{frame}); repair it, or write leave_out: {sorted(where)[:MOST_NAMED]} into the recipe"
        )


def _word_faults(dataset: Dataset, recipe: SkillRecipe, used: set[int]) -> Iterator[str]:
    try:
        sentences = dataset.sentences()
    except DatasetError as error:
        yield str(error)
        return
    path = dataset.root / "meta" / "tasks.parquet"
    for task in sorted(used):
        if not str(sentences.get(task) or "").strip():
            yield f"{path}: task_index {task} has no sentence; write what was asked for there"
    for sentence in recipe.words:
        if sentence not in sentences.values():
            have = "; ".join(str(words) for words in list(sentences.values())[:MOST_NAMED])
            yield recipe.fault(
                ("words", sentence), "is no sentence of the dataset's tasks", f"it has: {have}"
            )


def _listed(numbers: dict[int, int]) -> str:
    shown = ", ".join(str(number) for number in sorted(numbers)[:MOST_NAMED])
    more = f" and {len(numbers) - MOST_NAMED} more" if len(numbers) > MOST_NAMED else ""
    return f"episode {shown}{more}"
