"""Trains the offline planner's matcher on generated orders, and evaluates it on held-out objects."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from openral_core.errors import WeightsError
from openral_core.files.atomic import write_atomically
from openral_core.sentence_encoder import default_model_folder
from openral_core.statistics import wilson_interval
from openral_rskill.safetensors_check import weights_fault
from openral_rskill.weights_writing import replaced_weights
from openral_training.checkpoint import identity, restore_run, save_run
from openral_training.devices import torch_device
from openral_training.planner.deployments import Lexicon, make_deployment
from openral_training.planner.labelled_utterance import FRAGMENT, IGNORED, ORDER, Utterance
from openral_training.planner.network import Matcher
from openral_training.planner.speaker import Speaker, order_words
from openral_training.training_folder import RUN_STATE

MAX_TOKENS = 40
HELD_OUT = 0.08
"""Share of the objects that are used for evaluation alone."""
AUXILIARY = 0.3
"""Weight of the losses of speech act, action and object, relative to that of the order."""
FREQUENT = 4000
"""Index in the encoder's vocabulary, which is ordered by frequency, from which on words can be unknown ones."""
NO_THING = ("s", "ing", "ed", "ly", "ful", "able", "ible", "ic", "al", "est", "ize", "ise", "ate", "fy")
"""Endings of words that are not used as names of objects."""
_WARM = "name the planner.safetensors of an earlier training"


@dataclass(frozen=True)
class PlannerConfig:
    """The hyper-parameters of a training run."""

    steps: int = 2600
    deployments: int = 4
    """Deployments of each step."""
    utterances: int = 16
    """Utterances for each deployment."""
    negatives: int = 5
    """Most other tasks that an utterance is compared with in training, besides those that it orders."""
    learning_rate: float = 1e-3
    rank: int = 32
    save_every: int = 100
    """Optimiser steps between two saved states, from which a killed run is resumed."""
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True)
class _Batch:
    clauses: list[str]
    examples: list[str]
    acts: Tensor
    pairs: list[tuple[int, int, float, float, float]]
    """(index of the clause, index of the example, and the labels of order, action and object)."""


def train(
    out: Path,
    config: PlannerConfig,
    without: Collection[str] = (),
    progress: Callable[[int, float], None] = lambda step, loss: None,
    warm_start: Path | None = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """Train, evaluate, write `planner.safetensors` and `planner_eval.json` into `out`; return the evaluation.

    The generated orders depend on seed and step alone, and not on the device. An interrupted training in `out` is
    resumed.

    Args:
        out: folder of the results.
        config: hyper-parameters.
        without: nouns of objects that are not used in training.
        progress: called after each step with the number of steps and the loss.
        warm_start: file of weights to begin with.
        device: auto, or a torch device.

    Raises:
        ContractError: the training in `out` has other settings.
        WeightsError: a file of weights is damaged or of another model.
    """
    torch.manual_seed(config.seed)
    torch.set_num_threads(config.threads)
    folder = default_model_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    lexicon = Lexicon(without, (HELD_OUT, 1.0), _strange_words(tokenizer))
    model = Matcher(folder, config.rank)
    if warm_start:
        _go_on_from(model, warm_start)
    model.to(torch_device(device))
    optimiser = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, weight_decay=0.01)
    model.train()
    state, run = out / RUN_STATE, identity(config, sorted(without), warm_start)
    for step in range(restore_run(state, model, optimiser, run), config.steps):
        rng = random.Random(f"{config.seed} {step}")
        warm = min(1.0, (step + 1) / 60) * 0.5 * (1 + math.cos(math.pi * step / config.steps))
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * max(warm, 0.02)
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=model.device.type != "cpu"):
            loss = _loss(model, tokenizer, _batch(rng, lexicon, config))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        progress(step + 1, loss.item())
        if (step + 1) % config.save_every == 0:
            save_run(state, model, optimiser, step + 1, run)
            save(model, out, config)
    save(model, out, config)
    found = evaluate(model, tokenizer, Lexicon((), (0.0, HELD_OUT)), random.Random(config.seed + 1))
    report = {
        "config": asdict(config),
        "without_nouns": len(list(without)),
        "held_out_objects": found,
    }
    write_atomically(out / "planner_eval.json", json.dumps(report, indent=1) + "\n")
    state.unlink(missing_ok=True)
    return report


def _go_on_from(model: Matcher, weights: Path) -> None:
    """Load trained weights. Raises WeightsError: the file is damaged or has those of another model."""
    if fault := weights_fault(weights):
        raise WeightsError(f"--warm-start {weights}: {fault}; {_WARM}")
    kept = {name: value.float() for name, value in load_file(weights).items()}
    ours = {name: value.shape for name, value in model.named_parameters()}
    if not kept or any(ours.get(name) != value.shape for name, value in kept.items()):
        raise WeightsError(f"--warm-start {weights}: holds no weights of the planner; {_WARM}")
    model.load_state_dict(kept, strict=False)


def _strange_words(tokenizer: Tokenizer) -> list[str]:
    """Return the rarer whole words of the encoder's vocabulary that may be names of objects, see FREQUENT."""
    return [
        word
        for word, place in tokenizer.get_vocab().items()
        if place > FREQUENT
        and len(word) > 3
        and word.isascii()
        and word.isalpha()
        and not word.endswith(NO_THING)
    ]


def _batch(rng: random.Random, lexicon: Lexicon, config: PlannerConfig) -> _Batch:
    clauses: list[str] = []
    examples: list[str] = []
    acts: list[int] = []
    pairs: list[tuple[int, int, float, float, float]] = []
    for _ in range(config.deployments):
        tasks = make_deployment(rng, lexicon)
        speaker = Speaker(rng, lexicon, tasks)
        first = len(examples)
        examples += [rng.choice(task.examples) for task in tasks]
        for _ in range(config.utterances):
            said = speaker.utterance()
            for i, label in _chosen(rng, said, config.negatives):
                parts = said.parts[i] if said.parts else (IGNORED, IGNORED)
                pairs.append((len(clauses), first + i, label, *parts))
            clauses.append(said.text)
            acts.append(said.act)
    return _Batch(clauses, examples, torch.tensor(acts), pairs)


def _chosen(rng: random.Random, said: Utterance, negatives: int) -> list[tuple[int, float]]:
    labels = list(enumerate(said.labels))
    wrong = [pair for pair in labels if pair[1] == 0.0]
    return [pair for pair in labels if pair[1] > 0] + rng.sample(wrong, min(negatives, len(wrong)))


def _loss(model: Matcher, tokenizer: Tokenizer, batch: _Batch) -> Tensor:
    clauses, clause_mask = _encode(model, tokenizer, batch.clauses)
    examples, example_mask = _encode(model, tokenizer, batch.examples)
    one = torch.tensor([pair[0] for pair in batch.pairs])
    other = torch.tensor([pair[1] for pair in batch.pairs])
    labels = torch.tensor([pair[2:] for pair in batch.pairs], device=model.device)
    logits = model.matches(clauses[one], clause_mask[one], examples[other], example_mask[other]).float()
    act = F.cross_entropy(model.acts(clauses, clause_mask).float(), batch.acts.to(model.device))
    wrong = F.binary_cross_entropy_with_logits(logits, labels.clamp(min=0.0), reduction="none")
    match, action, thing = (
        (wrong * (labels != IGNORED)).sum(0) / (labels != IGNORED).sum(0).clamp(min=1)
    ).unbind()
    return match + AUXILIARY * (act + action + thing)


def _encode(model: Matcher, tokenizer: Tokenizer, texts: list[str]) -> tuple[Tensor, Tensor]:
    """Return token states (N, T, 384) and mask (N, T); texts of similar length are encoded together, to pad less."""
    ids = [encoding.ids[:MAX_TOKENS] for encoding in tokenizer.encode_batch(texts)]
    longest = max(map(len, ids))
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    groups = [order[i : i + 16] for i in range(0, len(order), 16)]
    states: list[Tensor] = []
    masks: list[Tensor] = []
    device = model.device
    for group in groups:
        width = max(len(ids[i]) for i in group)
        padded = torch.tensor([ids[i] + [0] * (width - len(ids[i])) for i in group])
        mask = torch.tensor([[True] * len(ids[i]) + [False] * (width - len(ids[i])) for i in group])
        mask = mask.to(device)
        states.append(F.pad(model.encoder(padded.to(device), mask), (0, 0, 0, longest - width)))
        masks.append(F.pad(mask, (0, longest - width)))
    back = torch.tensor(order).argsort()
    return torch.cat(states)[back], torch.cat(masks)[back]


def save(model: Matcher, out: Path, config: PlannerConfig) -> None:
    """Write the trained weights in half precision into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    weights = {
        name: value.detach().cpu().numpy().astype(np.float16) for name, value in model.named_parameters()
    }
    words = " ".join(sorted(order_words(Lexicon())))
    with replaced_weights(out / "planner.safetensors") as partial:
        save_file(weights, str(partial), {"config": json.dumps(asdict(config)), "words": words})


@torch.no_grad()
def evaluate(
    model: Matcher, tokenizer: Tokenizer, lexicon: Lexicon, rng: random.Random, deployments: int = 60
) -> dict[str, Any]:
    """Return rates over random deployments: orders recognised, other sentences rejected, speech acts classified."""
    model.eval()
    config = PlannerConfig(deployments=1, negatives=99)
    counts = {"orders_found": [0, 0], "left_alone": [0, 0], "wrongly_moved": [0, 0], "acts": [0, 0]}
    for _ in range(deployments):
        batch = _batch(rng, lexicon, config)
        clauses, clause_mask = _encode(model, tokenizer, batch.clauses)
        examples, example_mask = _encode(model, tokenizer, batch.examples)
        acts = model.acts(clauses, clause_mask).argmax(1)
        _count(counts["acts"], (acts.cpu() == batch.acts).tolist())
        for index in range(len(batch.clauses)):
            pairs = [pair for pair in batch.pairs if pair[0] == index]
            if not pairs:
                continue
            other = torch.tensor([pair[1] for pair in pairs])
            one = torch.full_like(other, index)
            scores = model.matches(clauses[one], clause_mask[one], examples[other], example_mask[other])[
                :, 0
            ].sigmoid()
            best = int(scores.argmax())
            moved = bool(scores[best] > 0.5) and int(acts[index]) in (ORDER, FRAGMENT)
            right = pairs[best][2] == 1.0
            wanted = any(pair[2] == 1.0 for pair in pairs)
            _count(
                counts["orders_found" if wanted else "left_alone"], [moved and right if wanted else not moved]
            )
            _count(counts["wrongly_moved"], [moved and not right])
    return {
        name: {"n": n, "share": round(k / n, 4), "interval": [round(x, 4) for x in wilson_interval(k, n)]}
        for name, (k, n) in counts.items()
        if n
    }


def _count(counter: list[int], found: list[bool]) -> None:
    counter[0] += sum(found)
    counter[1] += len(found)
