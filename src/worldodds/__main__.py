"""``python -m worldodds`` is the command ``worldodds``."""

from worldodds.cli import main

if __name__ == "__main__":
    main()
