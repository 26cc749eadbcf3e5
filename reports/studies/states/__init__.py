"""States: the geometry of words' states by layer, and outlier dimensions."""
