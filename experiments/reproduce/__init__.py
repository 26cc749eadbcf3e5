"""Published findings held against models: what is read for them, how numbers become verdicts, and the record of all."""
