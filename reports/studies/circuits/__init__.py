"""Circuits: what the weights alone say of heads."""
