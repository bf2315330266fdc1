"""What all tables need, whatever file they come from: columns and their roles, dialects of text, pairs, records."""
