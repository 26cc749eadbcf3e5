"""The page of an atlas: runs of models, corpora and seeds in one table, one grid and one chart."""
