"""Types, operations, graphs and tracing: what every other layer is built on."""
