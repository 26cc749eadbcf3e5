"""The files of a model's folder: what they are called, and the tensors in them."""
