"""A server of the Model Context Protocol: what it offers, what an agent may name, how it runs."""
