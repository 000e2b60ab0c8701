"""One file a transformation."""
