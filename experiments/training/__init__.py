"""Trainings: texts, checkpoints, model cards, and the biographies of heads."""
