"""Is attention explanation? A classifier that attends to frozen states, and attention that is put in its place."""
