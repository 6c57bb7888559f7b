"""python3 -m pytest benchmarks"""
import pytest

import textkit

TEXT = "The 12 quick foxes ate 3.5 pies, and 7 hens. " * 40


@pytest.mark.parametrize("n", [40, 80])
def test_distance(benchmark, n):
    assert benchmark(textkit.distance, TEXT[:n], TEXT[3 : n + 5]) > 0


@pytest.mark.parametrize("n", [100, 200])
def test_rolling_hashes(benchmark, n):
    assert len(benchmark(textkit.rolling_hashes, TEXT[:n], 20)) == n - 19


@pytest.mark.parametrize("n", [20, 500])
def test_tokenize(benchmark, n):
    assert benchmark(textkit.tokenize, TEXT[:n])[0] == ("word", "The")
