"""Evaluation and calibration of reward models on rollouts that the simulator labels."""
