"""Adapters between robot and policy: observations for a checkpoint, and actions for a scene."""
