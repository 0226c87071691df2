"""The report of a multiverse: in which readings of a plan its conclusions hold."""
