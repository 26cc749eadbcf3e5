"""Minimal pairs: readers, corpora, pairs made by the grammar, scores and their table."""
