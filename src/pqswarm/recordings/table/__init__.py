"""Text tables (CSV): read and write."""
