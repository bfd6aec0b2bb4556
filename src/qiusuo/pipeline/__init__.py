"""What happens between a question and an engine, as an onion of small layers composed once.

normalise -> shared cache -> joining of identical searches -> user limit -> order and failover -> cooldown, quota,
pace -> engine.
"""
