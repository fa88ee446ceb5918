"""Between robot and policy: observations as a checkpoint wants them, actions as a robot takes them."""
