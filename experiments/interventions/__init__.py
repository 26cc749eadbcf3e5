"""Claims about what encoders and decoders learn where their heads or their attention are changed."""
