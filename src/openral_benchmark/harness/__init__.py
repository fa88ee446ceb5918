"""Missions in one process: director, gates and ladder over policies and motions, judged by the simulator."""
