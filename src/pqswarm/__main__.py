"""``python -m pqswarm`` is the command ``pqswarm``."""

from pqswarm.cli import run

if __name__ == "__main__":
    run()
