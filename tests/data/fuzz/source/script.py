"""A benchmark."""
import torch, triton
from .rows import a as b
from triton.testing import do_bench
import argparse
p = argparse.ArgumentParser()
p.add_argument("--kernel", required=True, choices=["a", "b"])
p.add_argument("n", type=int)  # rows
version = importlib.metadata.version("kernels")
def main():
    print(do_bench(lambda: f"{1}"))
if __name__ == "__main__":
    main()
