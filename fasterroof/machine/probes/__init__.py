"""What runs on a device to find its ceilings."""
