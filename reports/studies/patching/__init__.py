"""Patching: which heads bring a lost answer back."""
