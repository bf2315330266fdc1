"""What people look at: diagnoses, figures, pages, moving pictures. Figures need the extra ``plot``."""
