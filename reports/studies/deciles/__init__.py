"""Deciles: what heads link with how much attention over a whole corpus, and descriptions that are scored."""
