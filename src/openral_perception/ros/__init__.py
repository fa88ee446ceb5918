"""The node `locator`, and its subscriptions to cameras, frames and the simulator's positions."""
