"""A run from its config to its folder."""
