"""Trees for plain text, by pipelines that others have trained."""
