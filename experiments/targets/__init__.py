"""What finished runs say of agreement, coreference and position, gathered for one page."""
