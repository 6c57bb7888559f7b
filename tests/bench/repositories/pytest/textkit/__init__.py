"""Small functions of texts."""
from textkit.distance import distance
from textkit.rolling import rolling_hashes
from textkit.tokens import tokenize

__all__ = ["distance", "rolling_hashes", "tokenize"]
