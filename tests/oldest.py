"""Print the oldest allowed dependencies as constraints for pip: ``python -m tests.oldest > oldest.txt``."""

from tests.versions import requirements

if __name__ == "__main__":
    oldest = [f"{name}{bounds.replace('>=', '==')}" for name, bounds in requirements().items()]
    assert not [one for one in oldest if "," in one], "a requirement of users has more than a lower bound"
    print("\n".join(oldest))
