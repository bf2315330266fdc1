from __future__ import annotations

import os

from treeball.engine.card import why_no_card

# Where there is no card, Triton interprets its kernels; it looks at this when they are defined.
if why_no_card():
    os.environ["TRITON_INTERPRET"] = "1"
