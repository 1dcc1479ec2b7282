"""Twelve networks whose run time judges predictions on a CPU. They were chosen before the first
calibration of a CPU was fitted, and no calibration may use their run times or their shapes."""

from collections.abc import Callable

BATCHES = (1, 8)
PRECISIONS = ("fp32", "bf16")


def _vision(library: str, name: str) -> Callable:
    "Return a builder of an image classifier without weights to download."

    def build(batch: int):
        import torch

        if library == "timm":
            import timm

            model = timm.create_model(name, pretrained=False)
        else:
            from torchvision import models

            model = models.get_model(name, weights=None)
        return model, (torch.randn(batch, 3, 224, 224),), {}

    return build


def _language(name: str, **sizes: int) -> Callable:
    "Return a builder of a language model of given sizes, on sequences of 128 tokens."

    def build(batch: int):
        import torch
        import transformers

        config = getattr(transformers, f"{name}Config")(**sizes)
        model = getattr(transformers, f"{name}Model")(config)
        tokens = torch.randint(0, config.vocab_size, (batch, 128))
        named = {"input_ids": tokens, "use_cache": False}
        if name == "T5":
            named["decoder_input_ids"] = tokens
        if name == "Bert":
            del named["use_cache"]
        return model, (), named

    return build


# name -> function of the batch that returns the model, its arguments and its keyword arguments
NETWORKS: dict[str, Callable] = {
    **{
        name: _vision("torchvision", name)
        for name in ("resnet50", "mobilenet_v3_large", "densenet121", "swin_t")
    },
    **{
        name: _vision("timm", name)
        for name in ("efficientnet_b0", "vit_small_patch16_224", "convnext_tiny", "mixer_b16_224")
    },
    "bert_base": _language("Bert"),
    "gpt2": _language("GPT2"),
    "t5_small": _language("T5"),
    # the sizes of SmolLM2-135M
    "smollm2_135m": _language(
        "Llama",
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        vocab_size=49152,
    ),
}
