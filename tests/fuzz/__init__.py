"""Every reader on input that nobody would write: by hypothesis in the tests, by atheris with `make fuzz`."""
