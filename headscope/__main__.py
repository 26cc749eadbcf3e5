"""The command `headscope`, also as `python -m headscope`."""

from experiments.cli import main

if __name__ == "__main__":
    main()
