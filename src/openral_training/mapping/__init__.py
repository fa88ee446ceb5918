"""Any LeRobot v3 dataset as training data of a `mini` skill: a recipe maps its features to the skill's manifest."""
