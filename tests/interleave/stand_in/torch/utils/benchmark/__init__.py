from torch.utils.benchmark.utils.timer import Timer
