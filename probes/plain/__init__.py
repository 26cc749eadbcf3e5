"""Plain text as corpora: its texts, their words by rules of their language, their trees by pipelines of others."""
