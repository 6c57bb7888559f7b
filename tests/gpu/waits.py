#!/usr/bin/env python3
"""How far apart the device's events lie around a call that waits at its end, and whether the kit recognises such calls.

    waits.py KIT    KIT: folder of flopwatch.py; needs PyTorch and a GPU

Prints, for a call that ends with torch.cuda.synchronize(), one that queues a tiny kernel behind it and one with work on another stream:
how many of 400 were taken for a call that ends there (all, none, none), and quantiles of what decides, in us.
"""
import ctypes
import sys

sys.path.insert(0, sys.argv[1])
import flopwatch
import torch


def quantiles(values):
    ordered = sorted(values)
    return " ".join("%.2f" % ordered[int(q * (len(ordered) - 1))] for q in (0, 0.05, 0.5, 0.95, 1))


def gaps_of(clock):
    gaps = [ctypes.c_float(), ctypes.c_float()]
    for gap, mark, following in zip(gaps, clock.marks, clock.marks[1:]):
        clock.must("cuEventElapsedTime", ctypes.byref(gap), mark, following)
    return [1e3 * gap.value for gap in gaps]


def main():
    x, tiny, side = torch.randn(1 << 20, device="cuda"), torch.zeros(1, device="cuda"), torch.cuda.Stream()
    torch.cuda.synchronize()
    flopwatch._watch_waits(torch)
    clock = flopwatch._Cuda.of(torch.cuda.current_stream().cuda_stream)
    print(torch.cuda.get_device_name())
    for name in "ends", "goes on", "other stream":
        rests, gaps, found = [], [], 0
        for _ in range(400):
            clock.enter(0, True, False)
            clock.spin(300)
            if name == "other stream":
                with torch.cuda.stream(side):
                    torch.cuda._sleep(2000000)
            x.mul_(1.0)
            torch.cuda.synchronize()
            if name == "goes on":
                tiny.add_(1)
            clock.leave()
            clock.wait()
            found += clock.ended_in_wait()
            rests.append(clock.rest_us)
            gaps.append(gaps_of(clock))
        print("%s: %d of 400; rest %s; gap between two events %s, that to the end %s, more by %s" % (name, found, quantiles(rests),
            quantiles([first for first, _ in gaps]), quantiles([last for _, last in gaps]), quantiles([last - first for first, last in gaps])))


main()
