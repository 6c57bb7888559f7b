"""Tests with the fixture of pytest-benchmark, of each kind of name that it makes; one fails after it was timed."""
import pytest

WORK = 1  # a test multiplies it


def add(n):
    return sum(i * i for i in range(n))


@pytest.mark.parametrize("n", [200, 400])
@pytest.mark.parametrize("kind", ["flat", "two words"])
def test_add(benchmark, n, kind):
    assert benchmark(add, n) > 0


@pytest.mark.benchmark(group="of two")
@pytest.mark.parametrize("n", [300, 600], ids=["once", "twice"])
def test_grouped(benchmark, n):
    assert benchmark(add, n) > 0


class TestPedantic:
    def test_work(self, benchmark):
        assert benchmark.pedantic(add, args=(2000 * WORK,), rounds=30, iterations=2, warmup_rounds=2) > 0


def test_fails(benchmark):
    assert benchmark(add, 100) == 0


def test_untimed():
    assert add(3) == 5
