"""Any LeRobot v3 dataset as lessons for a `mini` skill: a recipe maps its features to those of the skill's manifest."""
