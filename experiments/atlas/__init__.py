"""An atlas: runs of models x corpora x seeds as one job, in this process or on a cluster, with one table and page."""
