"""Rolling hashes of fixed windows."""

BASE, MODULUS = 257, (1 << 61) - 1
ROUNDS = 100


def _mix(value):
    for _ in range(ROUNDS):
        value = (value * BASE + 1) % MODULUS
    return value


def rolling_hashes(text, window):
    """A hash of each window of a text, mixed so that neighbours differ in all bits."""
    top = pow(BASE, window, MODULUS)
    value, hashes = 0, []
    for i, c in enumerate(text):
        value = (value * BASE + ord(c)) % MODULUS
        if i >= window:
            value = (value - ord(text[i - window]) * top) % MODULUS
        if i + 1 >= window:
            hashes.append(_mix(value))
    return hashes
