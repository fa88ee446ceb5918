"""The offline planner: a small grammar splits a sentence, and a trained matcher finds the task of each part."""

from openral_reasoner.offline.planner import OfflinePlanner

__all__ = ["OfflinePlanner"]
