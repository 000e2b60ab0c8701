"""What users call: transformations and devices."""
