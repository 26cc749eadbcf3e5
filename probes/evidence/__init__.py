"""The uncertainty of numbers: resampling, tests, verdicts, and simulations in which the truth is known."""
