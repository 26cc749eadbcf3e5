"""Explanation: whether attention explains what a classifier decides."""
