"""The report of a study on several data sets: the data set is the unit of every test."""

__all__: list[str] = []
