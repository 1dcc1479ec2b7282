"""Predictions by a roofline that is fitted to measured operations."""
