"""The checks of `fasterroof doctor`: the machine, and what fasterroof says about it."""
