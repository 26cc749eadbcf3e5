"""Slopes: the derivative of a behaviour with respect to single attention weights."""
