"""Files: hierarchies in, models and vectors in and out, written whole or not at all."""
