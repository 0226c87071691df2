"""What sentences say: facts that must stand in one of them, whatever the words between."""

import re


def says(text, *facts):
    """Whether one sentence of a text holds all facts: names, numbers and the words that give the direction."""
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)
    return any(all(re.search(rf"(?<![\w.]){re.escape(fact)}(?!\w)", one) for fact in facts) for one in sentences)
