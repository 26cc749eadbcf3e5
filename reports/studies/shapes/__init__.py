"""Attention statistics: entropy, distances and classes of maps."""
