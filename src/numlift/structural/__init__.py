"""Families of operations and the few operations that transformations themselves emit."""
