"""The engine of a graphics card: kernels in Triton, on tensors of torch."""
