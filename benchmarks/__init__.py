"""Benchmarks: the same code runs on numlift, on jax and, where that makes sense, on NumPy."""
