"""`openral benchmark`: a skill on a suite of fixed initial states, with rows that anyone gets again."""
