"""What textbooks say of attention, as experiments: each claim a config, a measurement, and a verdict that can fail."""
