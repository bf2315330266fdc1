"""The paper's tables and figures, regenerated: what it printed, which runs that asks for, and how they compare."""
