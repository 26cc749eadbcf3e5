"""Minimal pairs, and agreement made of their sets: readers, templates, corpora, pairs of the grammar, scores."""
