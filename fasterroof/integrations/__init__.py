"""Adapters for trainers, pytest, notebooks and agents."""
