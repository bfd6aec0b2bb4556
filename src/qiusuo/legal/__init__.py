"""Chinese law on this machine: statutes, articles and judgments in one index folder, found exactly or by words."""
