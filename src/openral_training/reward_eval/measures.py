"""Measures of a reward model: rank correlation with time, separation of success and failure, and calibration.

VOC is the rank correlation of predicted progress with time on successful rollouts (GVL, Ma et al. 2024,
arXiv 2411.04549), as Spearman's rho and as Kendall's tau-b. AUROC and AUPRC compare the score of the last frame, the
minimum of both heads, with the simulator's judgement of that frame. The expected calibration error has ten bins of
equal width (Guo et al. 2017, arXiv 1706.04599).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from openral_core.errors import ContractError
from openral_core.progress_judgement import ProgressThresholds
from openral_core.statistics import auroc, average_precision, wilson_interval
from openral_reward_monitor.models.calibration import CameraCalibration
from openral_training.acting_skill import POLICY
from openral_training.reward_eval.cases import FAILURE, KINDS, PARTIAL, RANKED, SUCCESS, Scored

BINS = 10
DWELL = ProgressThresholds().dwell
SECOND_LOOK = 5
"""Further frames after DWELL that must also say yes in `second_look`: half a second."""
CURVE_POINTS = 21
"""Number of points of a mean progress curve, over the elapsed share of the rollout."""


def decision(score: float, calibration: CameraCalibration | None, threshold: float) -> str:
    """Return the decision of the monitor on one frame: "yes", "no" or "abstain"."""
    done = score >= threshold if calibration is None else calibration.is_done(score, threshold)
    return "abstain" if done is None else "yes" if done else "no"


def called_done(one: Scored, calibration: CameraCalibration | None, threshold: float, more: int = 0) -> bool:
    """Return whether DWELL frames in a row said yes while the task was not done in any of them.

    This is the rule by which a mission ends (`openral_core.progress_judgement.assess`), at the frame rate of the
    rollouts.

    Args:
        one: the rollout.
        calibration: of the camera; None: raw scores count.
        threshold: score from which on a reading counts as success.
        more: frames after those that must also say yes.
    """
    return False in _calls(one, calibration, threshold, more)


def ends_rightly(one: Scored, calibration: CameraCalibration | None, threshold: float) -> bool:
    """Return whether a mission would end in this rollout, and at a time at which the task is done."""
    return next(iter(_calls(one, calibration, threshold)), False)


def _calls(
    one: Scored, calibration: CameraCalibration | None, threshold: float, more: int = 0, still: int = 0
) -> list[bool]:
    """Return for each window of DWELL + `more` frames that all said yes whether the task was done in any of them.

    At the end of a rollout the arm holds still, so its last frame is repeated `more` + `still` times.
    """
    said = np.array([decision(float(score), calibration, threshold) == "yes" for score in one.joint])
    said, truth = (np.pad(values, (0, more + still), mode="edge") for values in (said, one.case.truth))
    spans = [slice(start, start + DWELL + more) for start in range(len(said) - DWELL - more + 1)]
    return [bool(truth[span].any()) for span in spans if said[span].all()]


def second_look(
    scored: Sequence[Scored], threshold: float, calibration: CameraCalibration | None
) -> dict[str, Any]:
    """Compare the rule by which a mission ends with one in which SECOND_LOOK more frames must agree.

    Returns:
        `called_done`: failures called done without and with it; `never_called`: successes that no frames in a row
        called done.
    """
    good, bad = [one for one in scored if one.done], [one for one in scored if not one.done]
    found: dict[str, Any] = {"frames": SECOND_LOOK}
    for name, more in (("without", 0), ("with", SECOND_LOOK)):
        false = sum(called_done(one, calibration, threshold, more) for one in bad)
        silent = sum(True not in _calls(one, calibration, threshold, more, DWELL - 1) for one in good)
        found[name] = {"called_done": share(false, len(bad)), "never_called": share(silent, len(good))}
    return found


def measures(
    scored: Sequence[Scored], threshold: float, calibration: CameraCalibration | None
) -> dict[str, Any]:
    """Return the measures of an evaluation; shares have Wilson intervals.

    Args:
        scored: every case.
        threshold: score from which on a reading counts as success.
        calibration: of the camera; None: raw scores count.

    Raises:
        ContractError: no expert comes to a success, or there are no failures, so that there is nothing to compare.
    """
    called = {id(one): called_done(one, calibration, threshold) for one in scored}
    # A skill's attempt ends when it is correctly called done; later frames are not used.
    over = {
        id(one)
        for one in scored
        if one.case.behaviour == POLICY and ends_rightly(one, calibration, threshold)
    }
    good, bad = [one for one in scored if one.done], [one for one in scored if not one.done]
    last = {id(one): float(one.joint[-1]) for one in scored}
    said = {id(one): decision(last[id(one)], calibration, threshold) for one in scored}
    never = [one for one in scored if not one.case.truth.any()]
    alarms = [
        one for one in never if any(decision(float(s), calibration, threshold) == "yes" for s in one.joint)
    ]
    rho, tau = _voc(scored)
    if not (rho and good and bad):
        raise ContractError(
            f"the {len(scored)} films hold {len(good)} successes, {len(bad)} failures, and {len(rho)} experts on their "
            "way to a success; none of these may be missing: judge more --episodes"
        )
    ends = [last[id(one)] for one in good], [last[id(one)] for one in bad]
    return {
        "voc_mean": _round(np.mean(rho)),
        "voc_min": _round(np.min(rho)),
        "voc_kendall_mean": _round(np.mean(tau)),
        "voc_rollouts": len(rho),
        "auroc": _round(auroc(*ends)),
        "auprc": _round(average_precision(*ends)),
        "successes": len(good),
        "failures": len(bad),
        "threshold": threshold,
        "calibrated": calibration is not None,
        "dwell": DWELL,
        "called_done_by_kind": {
            kind: share(sum(called[id(one)] for one in films), len(films))
            for kind, names in KINDS.items()
            if (films := [one for one in bad if one.case.behaviour in names and id(one) not in over])
        },
        "second_look": second_look(scored, threshold, calibration),
        "false_success": _share(bad, said, "yes"),
        "missed_success": _share(good, said, "no"),
        "abstained_on_success": _share(good, said, "abstain"),
        "abstained_on_failure": _share(bad, said, "abstain"),
        "false_success_in_any_frame": share(len(alarms), len(never)),
        "by_behaviour": _by_behaviour(scored, said),
        "by_task": _by_task(scored, said),
        "ranking": ranking(scored),
        "calibration": reliability(scored, calibration),
        "curves": _curves(scored),
    }


def _voc(scored: Sequence[Scored]) -> tuple[list[float], list[float]]:
    """Return rho and tau-b of each successful rollout of its own task, up to its first success."""
    rho, tau = [], []
    for one in scored:
        if one.case.behaviour not in ("expert", "noisy") or not one.case.truth.any():
            continue
        end = int(np.argmax(one.case.truth)) + 1
        if end < 3:  # done before it began
            continue
        time, progress = one.case.stamps_s[:end], one.scores.progress[:end]
        flat = float(progress.max()) == float(progress.min())  # for which neither correlation is defined
        rho.append(0.0 if flat else float(stats.spearmanr(time, progress).statistic))
        tau.append(0.0 if flat else float(stats.kendalltau(time, progress).statistic))
    return rho, tau


def ranking(scored: Sequence[Scored]) -> dict[str, Any]:
    """Check for final progress the order failure < partial < success, among rollouts of one task and initial state.

    Returns:
        The share of pairs in the right order (ties count half) for each pair of levels and for all of them, and the
        number of pairs.
    """
    groups: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for one in scored:
        if one.case.behaviour not in RANKED:
            continue
        key = (one.case.task, one.case.init_id)
        groups.setdefault(key, []).append((one.level, float(one.scores.progress[-1])))
    won: dict[tuple[int, int], list[float]] = {}
    for group in groups.values():
        for low, first in group:
            for high, second in group:
                if low < high:
                    outcome = 1.0 if first < second else 0.5 if first == second else 0.0
                    won.setdefault((low, high), []).append(outcome)
    names = {
        "failure_partial": (FAILURE, PARTIAL),
        "partial_success": (PARTIAL, SUCCESS),
        "failure_success": (FAILURE, SUCCESS),
    }
    found = {name: _accuracy(won.get(pair, [])) for name, pair in names.items()}
    return {**found, "all": _accuracy([outcome for pair in won.values() for outcome in pair])}


def _accuracy(outcomes: Sequence[float]) -> dict[str, Any]:
    return {"accuracy": _round(np.mean(outcomes)) if outcomes else None, "pairs": len(outcomes)}


def reliability(scored: Sequence[Scored], calibration: CameraCalibration | None) -> dict[str, Any]:
    """Compare predicted probabilities of success with observed frequencies, over all frames."""
    score = np.concatenate([one.joint for one in scored])
    truth = np.concatenate([one.case.truth for one in scored])
    found: dict[str, Any] = {"frames": len(score), "raw": _bins(score, truth)}
    if calibration is not None:
        found["calibrated"] = _bins(calibration.probability(score), truth)
    return found


def _bins(said: NDArray[np.float32], truth: NDArray[np.bool_]) -> dict[str, Any]:
    which = np.minimum((said * BINS).astype(int), BINS - 1)
    rows, error = [], 0.0
    for index in range(BINS):
        inside = which == index
        if not inside.any():
            continue
        mean, share_true = float(said[inside].mean()), float(truth[inside].mean())
        error += abs(mean - share_true) * float(inside.mean())
        rows.append({"said": _round(mean), "true": _round(share_true), "frames": int(inside.sum())})
    return {"ece": _round(error), "bins": rows}


def _by_behaviour(scored: Sequence[Scored], said: dict[int, str]) -> dict[str, Any]:
    found = {}
    for name in dict.fromkeys(one.case.behaviour for one in scored):
        group = [one for one in scored if one.case.behaviour == name]
        answers = [said[id(one)] for one in group]
        found[name] = {
            "films": len(group),
            "done": sum(one.done for one in group),
            "progress_mean": _round(np.mean([one.scores.progress[-1] for one in group])),
            "score_mean": _round(np.mean([one.joint[-1] for one in group])),
            **{answer: answers.count(answer) for answer in ("yes", "no", "abstain")},
        }
    return found


def _by_task(scored: Sequence[Scored], said: dict[int, str]) -> dict[str, Any]:
    """Return the main measures by task of the sentence; None where there is nothing to compare."""
    found = {}
    for name in dict.fromkeys(one.case.task for one in scored):
        group = [one for one in scored if one.case.task == name]
        done = [one for one in group if one.done]
        not_done = [one for one in group if not one.done]
        ends = [[float(one.joint[-1]) for one in part] for part in (done, not_done)]
        rho, _ = _voc(group)
        found[name] = {
            "films": len(group),
            "done": len(done),
            "voc_mean": _round(np.mean(rho)) if rho else None,
            "auroc": _round(auroc(*ends)) if done and not_done else None,
            "false_success": sum(said[id(one)] == "yes" for one in not_done),
            "missed_success": sum(said[id(one)] == "no" for one in done),
            "abstained": sum(said[id(one)] == "abstain" for one in group),
        }
    return found


def _curves(scored: Sequence[Scored]) -> dict[str, list[float]]:
    """Return the mean progress of each behaviour over the elapsed share of the rollout."""
    at = np.linspace(0.0, 1.0, CURVE_POINTS)
    groups: dict[str, list[NDArray[np.float64]]] = {}
    for one in scored:
        progress = one.scores.progress
        over = np.interp(at, np.linspace(0.0, 1.0, len(progress)), progress)
        groups.setdefault(one.case.behaviour, []).append(over)
    return {name: [_round(value) for value in np.mean(group, axis=0)] for name, group in groups.items()}


def _share(group: Sequence[Scored], said: dict[int, str], answer: str) -> dict[str, Any]:
    return share(sum(said[id(one)] == answer for one in group), len(group))


def share(count: int, of: int) -> dict[str, Any]:
    """Return a share with its Wilson interval; without a rate if `of` is 0."""
    if of == 0:
        return {"rate": None, "wilson_95": None, "count": 0, "of": 0}
    low, high = wilson_interval(count, of)
    return {"rate": _round(count / of), "wilson_95": [_round(low), _round(high)], "count": count, "of": of}


def _round(value: float | np.floating[Any]) -> float:
    return round(float(value), 4)
