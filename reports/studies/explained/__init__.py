"""Explained attention: how much of a head's attention between words lies on pairs of its roles."""
