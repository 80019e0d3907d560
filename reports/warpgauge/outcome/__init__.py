"""The outcome of a gate: results in order, and their texts."""
