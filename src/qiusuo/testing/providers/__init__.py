"""How each provider talks, one module each: ``from qiusuo.testing.providers.tavily import Tavily``."""
