"""Relatedness: attention between words against ratings of how related they are."""
