"""The reward monitor's node, its topics and `perception/query_task_progress`."""
