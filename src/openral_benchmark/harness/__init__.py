"""Missions in one process: the director, its gates and its ladder over policies and motions, judged by the simulator."""
