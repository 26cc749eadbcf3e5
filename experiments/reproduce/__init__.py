"""Published findings tested on models: what is read for them, how numbers become verdicts, and their record."""
