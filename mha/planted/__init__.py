"""Encoders whose heads are set by hand, so that what they do is known."""
