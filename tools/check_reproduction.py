"""Check that every figure in the tables of docs/reproduction.md is the one that the records beside the page tell.

    python tools/check_reproduction.py [PAGE]

The tables are made anew from the records and compared line by line. Exits with 1 and says what differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

from treeball.reproduce.page import check_page, read_stored, records_path, stale_records

PAGE = Path(__file__).parents[1] / "docs" / "reproduction.md"


def main() -> int:
    page = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    wrong = check_page(page)
    for line in wrong:
        print(line, file=sys.stderr)
    runs = sum(len(records) for records in read_stored(page).records.values())
    stale = stale_records(page)
    if stale:
        print(f"made by other code than today's: {', '.join(stale)}")
    if not wrong:
        print(f"{page}: every figure is that of {runs} runs in {records_path(page)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
