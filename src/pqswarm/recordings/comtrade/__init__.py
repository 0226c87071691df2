"""COMTRADE (IEEE C37.111): read and write."""
