"""Tables: the columns they must have, how they are checked, written, read and shown."""
