"""Files that people add to a conversation: which kinds there are, their text, and where in them it stands."""

from qiusuo.files.details import FileDetails
from qiusuo.files.models import MAX_BYTES, MAX_CHARS, PER_MESSAGE, FileKind, FileText, Part, about_file
from qiusuo.files.names import checked_name
from qiusuo.files.reading import FileReader, Progress, missing_packages

__all__ = [
    "MAX_BYTES",
    "MAX_CHARS",
    "PER_MESSAGE",
    "FileDetails",
    "FileKind",
    "FileReader",
    "FileText",
    "Part",
    "Progress",
    "about_file",
    "checked_name",
    "missing_packages",
]
