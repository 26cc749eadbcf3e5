"""Corpora: readers of every format, corpora by name, windows of documents."""
