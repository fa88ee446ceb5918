"""A skill on a suite of fixed initial states: episode queue, workers, results, pages."""
