"""Published findings about attention heads, one file a paper; `experiments.reproduce` holds models against them.

A file has a `Paper` called PAPER and its findings in FINDINGS; to add one, add a file, and planted tables
to the tests (docs/extending.md shows how).
"""
