"""What heads are worth: importance, pruning and learned gates."""
