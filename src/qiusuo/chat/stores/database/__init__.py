"""The database itself: connections, tables, and how those of older versions are brought up to date.

Other parts of the program keep their tables here too.
"""
