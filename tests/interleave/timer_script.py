"""timer_script.py - times with torch.utils.benchmark, without any code for the kit."""
# cells: sum(x) sums/many
import torch.utils.benchmark as benchmark

x = list(range(1000))
one = benchmark.Timer(stmt="sum(x)", globals={"x": x}).blocked_autorange()
two = benchmark.Timer(stmt="sum(y)", setup="y = x + x", globals={"x": x}, label="sums", description="many").timeit(100)
print("took %.6f ms" % (one.median * 1e3 + two.median * 1e3))
