"""Locates objects: from words or a pixel to a point in the world frame, with its covariance, confidence and age."""
