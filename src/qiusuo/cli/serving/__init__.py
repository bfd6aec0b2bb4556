"""``qiusuo serve``: one process that answers, or several under a supervisor."""
