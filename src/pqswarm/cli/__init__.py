"""The command ``pqswarm``: one module per command, which imports what is heavy when it runs."""

import sys


def run() -> None:
    """Run the command line; loading it takes a second, in which Ctrl-C has to end it, too."""
    try:
        from pqswarm.cli.main import main
    except KeyboardInterrupt:
        sys.stderr.write("pqswarm: stopped.\n")
        sys.exit(130)
    main()
