"""One module for each question that a report answers: its numbers, tables, figures and sentences."""
