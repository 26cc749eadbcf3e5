"""The embedded corpus: English with gold trees, agreement with attractors, and coreference, made to order."""

from probes.grammar.documents import generate

__all__ = ["generate"]
