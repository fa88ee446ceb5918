"""Sections of the config of a run, one a file; `config` has the whole."""
