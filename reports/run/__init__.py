"""A run folder, opened for reading."""
