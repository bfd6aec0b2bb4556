"""Loopback providers for tests: real HTTP servers that answer, and fail, as the providers do.

::

    from qiusuo.engines.tavily import TavilyEngine
    from qiusuo.testing import Fault, ProviderServer
    from qiusuo.testing.providers.tavily import Tavily

    with ProviderServer(Tavily()) as server:
        engine = TavilyEngine(server.key, base_url=server.base_url)
        server.fault = Fault.RATE_LIMITED        # from now on: 429 with Retry-After

Needs only Qiusuo itself. :class:`qiusuo.testing.conformance.EngineConformance` (needs pytest) runs the whole table of
faults over an engine, your own ones too.
"""

import sys

from qiusuo.testing.server import Answer, Fault, Provider, ProviderServer, Seen

# Below pytest the table of faults shows the values of what it finds wrong, as tests do.
if pytest := sys.modules.get("pytest"):
    pytest.register_assert_rewrite("qiusuo.testing.conformance")

__all__ = ["Answer", "Fault", "Provider", "ProviderServer", "Seen"]
