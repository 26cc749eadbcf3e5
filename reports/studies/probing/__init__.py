"""Probing: what linear probes of layers, and of the attention of all heads together, find out."""
