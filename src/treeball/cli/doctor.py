"""``treeball doctor``: what is installed and what the machine offers."""

from __future__ import annotations

import importlib.util
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .console import print_json, print_table

_CORE = ("numpy", "numba", "pyarrow", "rich", "cyclopts", "rapidfuzz", "platformdirs")
_EXTRAS = {
    "formats": ("pyoxigraph", "python-calamine", "PyYAML"),
    "plot": ("matplotlib",),
    "serve": ("pydantic", "httptools"),
    "torch": ("torch",),
    "gpu": ("torch", "triton"),
    "sklearn": ("scikit-learn",),
    "duckdb": ("duckdb",),
    "scale": ("duckdb", "fsspec"),
    "ray": ("ray", "duckdb"),
}


def doctor(*, json: bool = False) -> int:
    """Show versions, optional libraries, threads, vector instructions and GPU; useful in a bug report.

    Parameters
    ----------
    json
        Print one JSON object.
    """
    from llvmlite import binding

    from .._version import __version__
    from ..engine.cpu.compiler import cache_directory
    from ..workers import available_cores

    features = binding.get_host_cpu_features()
    simd = [name for name in ("sse4.2", "neon", "avx", "avx2", "fma", "avx512f") if features.get(name)]
    record: dict[str, Any] = {
        "treeball": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _version(name) for name in _CORE},
        "extras": {extra: {name: _version(name) for name in names} for extra, names in _EXTRAS.items()},
        "threads": available_cores(),
        "cpu": binding.get_host_cpu_name(),
        "simd": simd,
        "compiled code": str(cache_directory() or "not kept: there is no home folder"),
        "gpu": _gpu(),
    }
    if json:
        print_json(record)
        return 0
    rows = []
    for name, value in record.items():
        if name == "extras":
            for extra, found in value.items():
                listed = ", ".join(f"{library} {number or 'missing'}" for library, number in found.items())
                remedy = "" if all(found.values()) else f"   (pip install 'treeball[{extra}]')"
                rows.append((f"extra {extra}", listed + remedy))
        elif isinstance(value, list):
            rows.append((name, " ".join(value)))
        else:
            rows.append((name, str(value)))
    print_table(rows)
    return 0


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _gpu() -> str:
    if importlib.util.find_spec("torch") is None:
        return "not looked for: torch is not installed"
    import torch

    return str(torch.cuda.get_device_name(0)) if torch.cuda.is_available() else "none that torch can use"
