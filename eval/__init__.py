"""Evaluations: how good the parts of Qiusuo are, measured on labelled data."""
