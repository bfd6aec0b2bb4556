"""Settings that operators read and change over HTTP; they take effect at once and stand in the configuration file."""
