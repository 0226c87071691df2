"""What several sections share: wording, intervals, curves, colours and the marks of interactive figures."""
