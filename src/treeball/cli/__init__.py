"""One small file per command; nothing outside imports from here."""
