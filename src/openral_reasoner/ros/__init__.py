"""The reasoner's node, and its clients of skills, cameras and the reward monitor."""
