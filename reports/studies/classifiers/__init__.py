"""Classifiers and parsers that are trained on heads."""
