"""The page of published findings, reproduced."""
