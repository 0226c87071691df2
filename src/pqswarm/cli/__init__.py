"""The command ``pqswarm``: one module per command, which imports what is heavy when it runs."""
