"""Answers: how well a model answers what it was trained to, and what its answers rest on."""
