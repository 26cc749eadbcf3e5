"""Relations between heads: distances, groups and ensembles."""
