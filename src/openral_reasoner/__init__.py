"""From a sentence to skills: palette, mission, planner and verify gate."""
