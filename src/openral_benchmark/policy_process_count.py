"""How many processes load the policy of a run, and how many threads each of them computes with.

A worker either simulates or waits for its policy, so W workers with a process of the policy each keep W cores busy and
no more. With fewer such processes workers wait for each other's inference. Rows depend on the number of threads in
their last bit, so that is decided by the skill and the machine alone, never by the number of processes.
"""

from __future__ import annotations

import math

from openral_benchmark.workers.worker_pool import cores
from openral_core.manifest.family_rules import server_elsewhere
from openral_rskill.registry import RSkillPackage
from openral_rskill.vram import MARGIN_GB, budget

SMALL_GB = 0.25
"""[GB] Size of weights up to which one thread is used: a batch takes milliseconds, and a second thread mostly waits."""
MOST_LARGE = 4
"""Most processes of a policy that is not small: with a quarter of the cores each they use a whole CPU, or a GPU."""
FEW_WORKERS = 2
"""Workers that share one process on a CPU: the start of a second one takes longer than they wait for each other."""
WORKERS_A_GPU_POLICY, WORKERS_A_SMALL_GPU_POLICY = 2, 8
"""Workers for each process with the policy on a GPU, where every process takes memory and turns.

One with a small policy answers in 2 ms: on an H200, 16 workers with two of them came to 4,250 steps a second while busy
and 1,950 over a whole run, with eight to 4,330 and 1,730.
"""
PROCESS_GB = 0.5
"""[GB] of the host's memory that a process with torch takes before its weights."""
HOST_SHARE = 0.5
"""Share of the host's free memory that policies may use; simulators need the rest."""


def policy_threads(package: RSkillPackage) -> int:
    """Return how many threads a process computes with."""
    return 1 if _is_small(package) else max(1, cores() // 4)


def policy_processes(package: RSkillPackage, device: str, workers: int, robots: int = 1) -> int:
    """Return how many processes of this machine load the policy, at least 1.

    Args:
        package: the skill; a policy on an external server is asked by one process.
        device: of the inference: `cpu`, `cuda` or `cuda:<index>`.
        workers: number of workers that ask it.
        robots: number of robots whose observations a worker sends in one batch.

    Raises:
        ContractError: `device` has another form.
    """
    if server_elsewhere(package.manifest.model_family) is not None:
        return 1
    if device.startswith("cuda"):
        sharing = WORKERS_A_SMALL_GPU_POLICY if _is_small(package) else WORKERS_A_GPU_POLICY
        wanted = math.ceil(workers / sharing)
    else:
        wanted = workers if workers > FEW_WORKERS else 1
    if not _is_small(package):
        wanted = min(wanted, MOST_LARGE)
    if wanted > 1:
        wanted = min(wanted, _that_fit(package, device, robots))
    return max(1, wanted)


def _is_small(package: RSkillPackage) -> bool:
    size = package.weights_bytes()
    return size is not None and size / 1e9 <= SMALL_GB


def _that_fit(package: RSkillPackage, device: str, robots: int) -> int:
    """Return how many copies of the policy fit into the GPU's memory, or into the host's where it infers on the CPU."""
    one = budget([package], device, robots=robots)
    if one.is_counted:
        return int(((one.free_gb or 0.0) - MARGIN_GB) / (one.needed_gb - MARGIN_GB))
    weights_gb = (package.weights_bytes() or 0) / 1e9
    return int(HOST_SHARE * _free_host_gb() / (PROCESS_GB + weights_gb))


def _free_host_gb() -> float:
    """Return the host's free memory [GB], caches counted as free; 0 where Linux does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            sizes = dict(line.split(":", 1) for line in file)
        return int(sizes["MemAvailable"].split()[0]) * 1024 / 1e9
    except (OSError, KeyError, ValueError):
        return 0.0
