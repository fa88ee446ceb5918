"""Where episodes are collected: shards, from which the dataset beside them is made anew each time."""

from __future__ import annotations

from pathlib import Path

from openral_core.files.output_folder import check_folder
from openral_data.datasets.listing import refuse_dataset

SHARDS = "shards"
"""Folder of the episodes that were finished, in that of the dataset."""


def check_collection_folder(out: Path) -> None:
    """See that a collection can be written, or gone on with; a dataset of others would be lost there.

    Raises:
        OutputError: the folder cannot be written, or holds a dataset that no collection made.
    """
    check_folder(out, "--out")
    if not (out / SHARDS).is_dir():
        refuse_dataset(out, "--out")
