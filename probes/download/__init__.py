"""Corpora brought from their own sources: where each lies, the transfer, treebanks by name, what is noted of them."""
