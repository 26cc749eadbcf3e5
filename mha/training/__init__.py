"""Training an encoder from scratch: texts to batches, steps, checkpoints and their log."""
