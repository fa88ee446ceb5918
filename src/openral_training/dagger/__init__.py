"""Learning from corrections (DAgger): an operator takes over where a policy stands still, and it is trained on that.

Read `config` (the settings of a run), `episode` (one attempt, with its take-over), `collection` (the episodes of a
round, and how they are recorded), `run` (the rounds), `run_folder` (the files of a run).
"""
