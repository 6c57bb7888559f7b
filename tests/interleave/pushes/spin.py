"""Two cells of fixed work on the host, with the kit. The file `share` in its folder has the share of additional work, e.g. 0.02."""
import flopwatch

share = float(open("share").read())
numbers, words = range(int(50000 * (1 + share))), range(int(10000 * (1 + share)))
for call in flopwatch.cell("sum", flops=len(numbers)):
    with call:
        sum(x for x in numbers)
for call in flopwatch.cell("words", flops=len(words)):
    with call:
        " ".join(str(x) for x in words)
