"""Coreference chains: what links the mentions of a text, and how well the chains meet the gold ones."""
