"""`python -m labkit` is the same as `labkit`."""

from labkit.cli import main

if __name__ == "__main__":
    main()
