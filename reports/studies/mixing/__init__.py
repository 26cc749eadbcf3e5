"""Mixing: how much of attention reaches the states, and how much of the states comes from attention."""
