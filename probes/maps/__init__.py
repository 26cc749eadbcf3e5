"""What maps look like beside what they hit: shapes, deciles, distances between heads, groups and ensembles."""
