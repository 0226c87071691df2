"""Events that belong together, their stages and their cause."""
