"""Sentences whose construction puts a subject and its verb where they stand: agreement as a corpus for heads."""
