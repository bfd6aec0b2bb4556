"""A model in a file on this machine (extra ``local``)."""
