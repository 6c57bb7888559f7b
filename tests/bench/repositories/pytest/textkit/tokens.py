"""Tokens of a text."""
import re

_TOKEN = re.compile(r"(?P<number>\d+(?:\.\d+)?)|(?P<word>\w+)|(?P<mark>[^\w\s])")


def tokenize(text):
    """Pairs of a kind (number, word, mark) and its text."""
    return [(match.lastgroup, match.group()) for match in _TOKEN.finditer(text)]
