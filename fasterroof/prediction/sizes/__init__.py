"""Sizes of models: of a layer of a transformer, and of the models that the package lists."""
