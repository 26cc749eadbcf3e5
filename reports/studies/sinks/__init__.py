"""Sinks: heads that attend to special tokens, and whether they write anything from there."""
