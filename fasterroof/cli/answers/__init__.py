"""The JSON outputs of the commands: the answer, its figures, and the schema of each output."""
