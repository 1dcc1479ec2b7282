"""Two runs side by side: which point is which, and how much longer each takes."""
