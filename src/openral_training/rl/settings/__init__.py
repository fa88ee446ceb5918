"""Sections of the config of a run, one per file; `config` has the whole."""
