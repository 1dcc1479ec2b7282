"""And for a program that XLA compiled: its optimized HLO as operations."""
