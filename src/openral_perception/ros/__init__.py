"""The node `locator` and the messages that it reads."""
