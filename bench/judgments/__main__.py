"""``python -m bench.judgments make|import|ask``: see docs/legal.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.judgments.asking import ask_all, show
from bench.judgments.importing import run_import
from bench.judgments.making import SEED, write_shards


def main() -> None:
    """Run what the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m bench.judgments")
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="write judgments as shards of JSON lines")
    make.add_argument("--count", type=int, required=True)
    make.add_argument("--out", type=Path, required=True)
    make.add_argument("--seed", type=int, default=SEED)
    bring = commands.add_parser("import", help="import them as a process of its own, and measure it")
    bring.add_argument("--index", type=Path, required=True)
    bring.add_argument("--kill-after", type=float, help="seconds until it is killed (-9)")
    bring.add_argument("sources", type=Path, nargs="+")
    ask = commands.add_parser("ask", help="ask a mixture of questions, and show how long they take")
    ask.add_argument("--index", type=Path, required=True)
    ask.add_argument("--count", type=int, default=400)
    given = parser.parse_args()
    if given.command == "make":
        for shard in write_shards(given.out, given.count, given.seed):
            print(shard, flush=True)
    elif given.command == "ask":
        show(ask_all(given.index, given.count))
    else:
        print(run_import(given.index, given.sources, given.kill_after))


if __name__ == "__main__":
    main()
