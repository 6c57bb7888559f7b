"""layernorm.py - PyTorch's layer norm beside one that torch.compile makes, timed by torch.utils.benchmark."""
import torch
import torch.utils.benchmark as benchmark


def layernorm(x):
    x = x - x.mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-5)


x = torch.randn(4096, 2048, device="cuda")
compiled = torch.compile(layernorm)
torch.testing.assert_close(compiled(x), torch.nn.functional.layer_norm(x, x.shape[-1:]), rtol=1e-4, atol=1e-4)

for name, stmt in (("library", "torch.nn.functional.layer_norm(x, x.shape[-1:])"), ("compiled", "compiled(x)")):
    timer = benchmark.Timer(stmt=stmt, globals={"torch": torch, "x": x, "compiled": compiled}, label="layernorm", description=name)
    print(timer.blocked_autorange(min_run_time=1))
