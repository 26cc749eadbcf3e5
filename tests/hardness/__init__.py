"""Kills at random moments, the golden runs, and what both are made of."""
