"""What the weights alone say of a head, compared with what it does on text."""
