"""Drift: what a training made of the maps that it began with."""
