"""Other tools: solver formats out."""
