"""Figures in W&B's own files, without a network; its package is an extra."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from openral_training.rl.metrics_log import MetricsLog

pytest.importorskip("wandb", reason="needs W&B: pip install 'openral[wandb]'")


PATIENCE_S = 60.0


def recorded(part: Path, word: bytes) -> bytes:
    """The content of a run's file once it has a word: W&B's own process writes it after the run was closed."""
    until = time.monotonic() + PATIENCE_S
    while word not in (content := part.read_bytes()):
        assert time.monotonic() < until, f"{part}: {content[:2000]!r}"
        time.sleep(0.05)
    return content


def test_a_run_is_recorded_offline_and_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")  # nobody is there
    book = MetricsLog(tmp_path, ("csv", "wandb"), 0)
    book.add(0, {"eval/success_once": 0.25})
    book.add(1, {"train/loss": 0.5})
    book.close()
    book = MetricsLog(tmp_path, ("csv", "wandb"), 2)
    book.add(2, {"train/loss": 0.125})
    book.close()
    parts = [next(folder.glob("run-*.wandb")) for folder in sorted(tmp_path.glob("wandb/offline-run-*"))]
    # Records lie in the file uncompressed, name beside number.
    first, second = recorded(parts[0], b"train/loss"), recorded(parts[1], b"0.125")
    assert b"eval/success_once" in first
    assert b"0.125" not in first
    assert b"train/loss" in second
    assert parts[0].name == parts[1].name  # one run: W&B puts both parts together when they are sent
