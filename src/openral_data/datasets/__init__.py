"""Operations on whole LeRobot v3 datasets: append, check, list, merge and split."""
