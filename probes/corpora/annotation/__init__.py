"""What corpora annotate beside words: trees, labels, Entity brackets, escapes and what pronouns mean."""
