"""A small network that is trained on all GPUs of the machine, a process each:

python3 -m torch.distributed.run --nproc-per-node 2 distributed.py [STEPS]
"""

import os
import sys

import torch
import torch.distributed
from torch.nn import Linear, ReLU, Sequential
from torch.nn.parallel import DistributedDataParallel

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10
torch.distributed.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
network = Sequential(Linear(1024, 1024), ReLU(), Linear(1024, 10)).cuda(rank)
network = DistributedDataParallel(network, device_ids=[rank])
optimiser = torch.optim.SGD(network.parameters(), lr=1e-3)
for _ in range(steps):
    optimiser.zero_grad()
    network(torch.randn(256, 1024, device=rank)).square().mean().backward()
    optimiser.step()
torch.cuda.synchronize()
torch.distributed.barrier()
print(f"rank {rank} done", flush=True)
torch.distributed.destroy_process_group()
