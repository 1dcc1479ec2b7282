"""The commands below `fasterroof bench`."""
