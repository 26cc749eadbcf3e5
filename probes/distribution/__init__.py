"""A head's whole distribution: deciles of its attention between words, what they link, a description that is scored."""
