"""The command `fasterroof`: arguments in, text out. Nothing imports it."""
