"""What a run records of itself: stages, notes, provenance, progress."""
