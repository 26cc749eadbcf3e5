"""Claims at work: every claim by name, its config, its record and the page of all."""
