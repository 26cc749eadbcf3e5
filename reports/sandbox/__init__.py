"""The page of the sandbox study: error rates where the truth is known."""
