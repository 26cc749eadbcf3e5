"""The page of claims that textbooks make, tested."""
