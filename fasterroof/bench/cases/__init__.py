"""The cases that ship: each is a module with a `CASE`."""
