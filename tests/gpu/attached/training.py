"""Trains a small network with PyTorch: cuBLAS, fused, reducing and sorting kernels.

training.py [STEPS]; prints numbers that are the same in each run."""

import sys

import torch

torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
gpu = "cuda"
network = torch.nn.Sequential(
    torch.nn.Linear(512, 1024),
    torch.nn.GELU(),
    torch.nn.LayerNorm(1024),
    torch.nn.Linear(1024, 10),
).to(gpu)
optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
samples = torch.randn(256, 512, device=gpu)
labels = torch.randint(0, 10, (256,), device=gpu)
loss = torch.zeros(())
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(network(samples), labels)
    loss.backward()
    optimiser.step()
ordered = torch.sort(samples.flatten()).values
turned = samples.t().contiguous()
print(f"{loss.item():.6f} {ordered[7].item():.6f} {turned[3, 5].item():.6f}")
