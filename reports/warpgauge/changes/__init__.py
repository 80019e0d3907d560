"""Changes of values: their causes, and when a series changed."""
