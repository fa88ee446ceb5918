"""The console's nodes: `console` subscribes and calls services, and a second one only calls the emergency stop."""
