"""How the end of an attempt is verified: by the fingers, by the locator, and by the reward monitor after the fact."""
