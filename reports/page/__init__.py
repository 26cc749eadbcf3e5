"""The page of a run, in HTML and Markdown."""
