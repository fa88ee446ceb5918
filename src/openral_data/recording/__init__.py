"""Recording of running deployments: frames on a fixed grid, segments that survive a kill, finished episodes."""
