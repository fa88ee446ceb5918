"""Benchmark of a skill on a suite of fixed initial states: episode queue, workers, results and HTML pages."""
