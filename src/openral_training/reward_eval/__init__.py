"""Judging and calibrating reward models on rollouts whose truth the simulator knows."""
