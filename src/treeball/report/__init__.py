"""Pictures of embeddings and of experiments; everything here needs the extra ``plot`` and is imported on demand."""
