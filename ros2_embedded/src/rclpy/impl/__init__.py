"""Names that programs import from here although they are rclpy's own: severities, loggers, RCL errors."""
