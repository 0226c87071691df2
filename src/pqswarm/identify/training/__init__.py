"""Train a model, correct it and check it."""
