"""Probes that run on a device to measure its ceilings."""
