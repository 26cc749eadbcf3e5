"""What a change of the code's form must not change: written on the tree before and after, and compared.

python -m tests.unchanged write FOLDER [--only PART ...]
python -m tests.unchanged compare BEFORE AFTER [--except FILE]
python -m tests.unchanged golden RECORD tests/golden/unchanged

A record is of one machine: its numbers are compared exactly. `golden` keeps what is the same on any.
"""
