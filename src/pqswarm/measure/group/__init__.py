"""Group what was found on single channels into events, and describe them."""
