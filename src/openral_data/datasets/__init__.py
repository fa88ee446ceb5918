"""What is done with whole LeRobot v3 datasets: appended to, checked, listed, merged, split, repaired."""
