"""One class a primitive, one file a family."""
