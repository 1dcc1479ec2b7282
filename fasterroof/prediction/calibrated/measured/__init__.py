"""Measuring the operations of a calibration on this machine."""
