"""A run from its config to its folder, and the workers that can read its controls."""
