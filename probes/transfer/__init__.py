"""Transfer: whether what a head gives in one sentence serves another one with the same answer."""
