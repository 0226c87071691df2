"""``python -m pqswarm`` is the command ``pqswarm``."""

from pqswarm.cli.main import main

if __name__ == "__main__":
    main()
