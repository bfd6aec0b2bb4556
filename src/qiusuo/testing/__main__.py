"""Play a provider on this machine, for trying an engine by hand: ``python -m qiusuo.testing MODULE:CLASS``.

    python -m qiusuo.testing qiusuo.testing.providers.tavily:Tavily
    python -m qiusuo.testing tests.engines.test_acme:Acme --fault hang

It prints what to set so that the engine asks it, then each request that it gets, until Ctrl-C.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from qiusuo.testing.server import Fault, Provider, ProviderServer

_LOOK_SECONDS = 0.1


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the keyboard ends it."""
    parser = argparse.ArgumentParser(
        prog="python -m qiusuo.testing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("provider", help="a module with a subclass of Provider in it, as package.module:Class")
    parser.add_argument("--engine", help="the name of the engine (the class's name in small letters)")
    parser.add_argument("--fault", choices=[fault.value for fault in Fault], help="how it fails")
    wanted = parser.parse_args(arguments)
    try:
        provider = _load(wanted.provider)
    except (ImportError, TypeError) as error:
        parser.error(str(error))
    engine = (wanted.engine or type(provider).__name__).upper()
    with ProviderServer(provider, fault=Fault(wanted.fault) if wanted.fault else None) as server:
        _say(f"export QIUSUO_ENGINES__{engine}__BASE_URL={server.base_url}")
        _say(f"export QIUSUO_ENGINES__{engine}__API_KEY={server.key}")
        told = 0
        with suppress(KeyboardInterrupt):
            while True:
                for seen in server.seen[told:]:
                    _say(
                        f"# {seen.method} {seen.path} {dict(seen.params)} {seen.body.decode(errors='replace')}".rstrip()
                    )
                    told += 1
                time.sleep(_LOOK_SECONDS)


def _load(place: str) -> Provider:
    """Return a provider of the class that is named.

    Raises:
        ImportError: there is no such module.
        TypeError: there is no such class in it, or it is not a provider.
    """
    module, _, name = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))  # of a project that is not installed, as pytest finds it
    kind = getattr(importlib.import_module(module), name, None)
    if not (isinstance(kind, type) and issubclass(kind, Provider)):
        raise TypeError(f"{place} is no subclass of qiusuo.testing.Provider; wanted: package.module:Class")
    return kind()


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - what the command is for


if __name__ == "__main__":
    main()
