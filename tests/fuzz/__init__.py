"""Every reader on input that nobody would write."""
