"""Counts: hits by groups of texts, for comparisons of runs."""
