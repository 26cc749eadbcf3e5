"""What a run reads: its model, its corpora, its controls."""
