"""Attention against effect: whether heads that attend to a relation matter for it."""
