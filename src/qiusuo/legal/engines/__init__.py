"""The engines that know laws: the index on this machine, and the official database."""
