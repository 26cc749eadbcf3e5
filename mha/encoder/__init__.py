"""The encoder, written to be read: its layers, its loss, and weights of the BERT family in and out."""
