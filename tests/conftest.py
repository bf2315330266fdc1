from __future__ import annotations

import os

from hypothesis import settings

# A shared machine may stall for longer than hypothesis' 200 ms; what we test is the value, not the time.
settings.register_profile("explore", deadline=None)
# Where a change is judged, the same examples every time: a new find belongs to the person who explores.
settings.register_profile("judge", deadline=None, derandomize=True)
settings.load_profile("judge" if os.environ.get("CI") else "explore")
