"""How sure a number is: resampling, tests, verdicts, and simulations in which the truth is known."""
