"""Heads in the course of a training: the texts, scores by checkpoint, and the order in which roles appear."""
