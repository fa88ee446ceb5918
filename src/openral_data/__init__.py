"""Recording, conversion, checks and replay of episodes, stored in the format of LeRobot datasets v3."""
