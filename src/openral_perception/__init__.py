"""Where a thing is: from words or a pixel to a point in the world's frame, with its covariance, confidence and age."""
