"""What maps look like beside what they hit: shapes, distances between heads, groups and ensembles."""
