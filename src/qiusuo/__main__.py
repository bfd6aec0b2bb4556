"""``python -m qiusuo``."""

from qiusuo.cli import main

main()
