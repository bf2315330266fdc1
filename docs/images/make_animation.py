"""Make the moving picture of a training:  python docs/images/make_animation.py

Shipped mammals, 2-d, method ga-dl-rw, objective parents, seed 0, 600 epochs, deterministic, 20 snapshots.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from treeball.cli.main import run

HERE = Path(__file__).parent
FIT = ["--method", "ga-dl-rw", "--dim", "2", "--epochs", "600", "--deterministic", "--snapshots", "20"]


def main() -> None:
    """Train, keep snapshots, draw them."""
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "mammals.parquet")
        if run(["fit", "example:mammals", "-o", model, *FIT]) == 0:
            run(["plot", model, "--animate", str(HERE / "training.gif"), "--fps", "5"])


if __name__ == "__main__":
    main()
