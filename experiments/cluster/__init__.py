"""Work that the workers of a Dask cluster do instead of this process."""
