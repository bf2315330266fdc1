from __future__ import annotations

from hypothesis import settings

# A shared machine may stall for longer than hypothesis' 200 ms; what we test is the value, not the time.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
