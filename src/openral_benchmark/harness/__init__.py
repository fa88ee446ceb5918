"""Benchmark of whole missions in one process.

The reasoner's director, success gates and recovery ladder run over policies and motions; the simulator judges.
"""
