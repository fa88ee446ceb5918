"""How many processes load a policy: enough that workers hardly wait, and no more than memory holds."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from benchmark_points import write_skill

from openral_benchmark import policy_process_count as rule
from openral_benchmark.execution_config import ExecutionConfig
from openral_benchmark.policy_source import PolicySource
from openral_core.errors import ContractError
from openral_rskill.registry import RSkillPackage, load_package
from openral_rskill.vram import CONTEXT_GB, MARGIN_GB


@dataclass(frozen=True)
class Weighty:
    """A skill whose weights are said to have a size [byte]."""

    package: RSkillPackage
    size: int | None

    @property
    def manifest(self):
        return self.package.manifest

    def weights_bytes(self) -> int | None:
        return self.size


@pytest.fixture
def package(tmp_path) -> RSkillPackage:
    return load_package(write_skill(tmp_path))


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """Sixteen cores, 64 GB of the host's memory and 24 GB of a GPU's."""
    monkeypatch.setattr(rule, "cores", lambda: 16)
    monkeypatch.setattr(rule, "_free_host_gb", lambda: 64.0)
    monkeypatch.setattr("openral_rskill.vram.free_gb", lambda index: 24.0)


def test_a_small_policy_has_a_process_for_each_of_many_workers_and_on_a_gpu_for_eight(package):
    small = Weighty(package, 20_000_000)
    assert rule.policy_threads(small) == 1
    assert [rule.policy_processes(small, "cpu", n) for n in (1, 2, 3, 4, 16)] == [1, 1, 3, 4, 16]
    assert [rule.policy_processes(small, "cuda", n) for n in (1, 8, 9, 16)] == [1, 1, 2, 2]


def test_on_two_cores_nothing_changes(package, monkeypatch):
    monkeypatch.setattr(rule, "cores", lambda: 2)
    for size in (20_000_000, 900_000_000):
        skill = Weighty(package, size)
        assert (rule.policy_threads(skill), rule.policy_processes(skill, "cpu", 2)) == (1, 1)


def test_a_large_policy_takes_a_quarter_of_the_cores_and_what_memory_holds(package, monkeypatch):
    large = Weighty(package, 900_000_000)
    assert rule.policy_threads(large) == 4
    assert rule.policy_processes(large, "cpu", 16) == 4
    monkeypatch.setattr(rule, "_free_host_gb", lambda: 2 * 2 * (rule.PROCESS_GB + 0.9))
    assert rule.policy_processes(large, "cpu", 16) == 2
    monkeypatch.setattr(rule, "_free_host_gb", lambda: 0.0)
    assert rule.policy_processes(large, "cpu", 16) == 1


def test_a_gpu_holds_a_context_for_each(package, monkeypatch):
    stated = package.manifest.min_vram_gb.get(package.manifest.quantization.dtype)
    large = Weighty(package, 900_000_000)
    one = (stated if stated is not None else 0.9) + CONTEXT_GB
    for count in (1, 2, 3):
        monkeypatch.setattr("openral_rskill.vram.free_gb", lambda index, n=count: MARGIN_GB + n * one + 0.01)
        assert rule.policy_processes(large, "cuda", 16) == count


def test_a_policy_that_somebody_else_serves_is_asked_by_one(package, monkeypatch):
    monkeypatch.setattr(rule, "server_elsewhere", lambda family: "policy_extras.url")
    assert rule.policy_processes(Weighty(package, None), "cpu", 16) == 1


def test_more_than_a_gpu_holds_are_refused_before_anything_starts(package, monkeypatch):
    monkeypatch.setattr("openral_rskill.vram.free_gb", lambda index: MARGIN_GB + 2 * CONTEXT_GB)
    execution = ExecutionConfig(workers=4, policies=4)
    with pytest.raises(ContractError, match=r"accelerator memory: .* 4 x 0\.8 of CUDA"):
        execution.pool(PolicySource.of(package, "cuda"), num_envs=1, most=4)
