"""How well the passages that are picked out of sources hold the answer to a question.

``python -m eval.passages`` prints every table with its goals. The data (RGB, Chen et al. 2024) is for measuring only
and no part of the project. Weights and thresholds were fitted on rows with even numbers; the odd ones confirm them.
"""
