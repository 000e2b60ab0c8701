"""Devices, buffers, executables: everything that runs on the jaxlib wheel.

Only `runtime` and `numlift.tree` import jaxlib. Inside `runtime`, `xla.py` is the one module that
names jaxlib's objects; the others take them from there.
"""
