"""Building an index: importers, installation, publication."""
