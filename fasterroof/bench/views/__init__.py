"""What rows and verdicts look like: reports, matrices, bundles."""
