"""Image-to-video pipelines small enough for a test: random weights, built in code, saved to a folder.

Each has the real classes and the real strides in space and time; only widths and depths are tiny.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from diffusers import (
    AutoencoderKLCogVideoX,
    AutoencoderKLLTXVideo,
    AutoencoderKLTemporalDecoder,
    AutoencoderKLWan,
    CogVideoXDDIMScheduler,
    CogVideoXImageToVideoPipeline,
    CogVideoXTransformer3DModel,
    EulerDiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
    LTXImageToVideoPipeline,
    LTXPipeline,
    LTXVideoTransformer3DModel,
    StableVideoDiffusionPipeline,
    UNetSpatioTemporalConditionModel,
    WanImageToVideoPipeline,
    WanTransformer3DModel,
)
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    CLIPVisionModel,
    CLIPVisionModelWithProjection,
    PreTrainedTokenizerFast,
    T5Config,
    T5EncoderModel,
    UMT5Config,
    UMT5EncoderModel,
)

TEXT = {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.0}


def save_wan(folder: Path) -> None:
    """Save a Wan pipeline (2.1's architecture: CLIP sees the first frame)."""
    pipeline = WanImageToVideoPipeline(
        tokenizer=_tokenizer(),
        text_encoder=UMT5EncoderModel(UMT5Config(**TEXT)),
        vae=AutoencoderKLWan(
            base_dim=3, z_dim=16, dim_mult=[1, 1, 1, 1], num_res_blocks=1, temperal_downsample=[False, True, True]
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(shift=7.0),
        transformer=WanTransformer3DModel(
            patch_size=(1, 2, 2),
            num_attention_heads=2,
            attention_head_dim=12,
            in_channels=36,
            out_channels=16,
            text_dim=32,
            freq_dim=256,
            ffn_dim=32,
            num_layers=2,
            cross_attn_norm=True,
            qk_norm="rms_norm_across_heads",
            rope_max_seq_len=32,
            image_dim=4,
        ),
        image_encoder=CLIPVisionModel(_clip(side=4, hidden=4)),
        image_processor=CLIPImageProcessor(crop_size=4, size=4),
    )
    pipeline.save_pretrained(folder)


def save_cogvideox(folder: Path) -> None:
    """Save a CogVideoX pipeline."""
    pipeline = CogVideoXImageToVideoPipeline(
        tokenizer=_tokenizer(),
        text_encoder=T5EncoderModel(T5Config(**TEXT)),
        vae=AutoencoderKLCogVideoX(
            in_channels=3,
            out_channels=3,
            down_block_types=("CogVideoXDownBlock3D",) * 4,
            up_block_types=("CogVideoXUpBlock3D",) * 4,
            block_out_channels=(8, 8, 8, 8),
            latent_channels=4,
            layers_per_block=1,
            norm_num_groups=2,
            temporal_compression_ratio=4,
        ),
        scheduler=CogVideoXDDIMScheduler(),
        transformer=CogVideoXTransformer3DModel(
            num_attention_heads=2,
            attention_head_dim=16,
            in_channels=8,
            out_channels=4,
            time_embed_dim=2,
            text_embed_dim=32,
            num_layers=1,
            sample_width=8,
            sample_height=8,
            sample_frames=9,
            patch_size=2,
            temporal_compression_ratio=4,
            max_text_seq_length=226,
            use_rotary_positional_embeddings=True,
        ),
    )
    pipeline.save_pretrained(folder)


def save_ltx(folder: Path) -> None:
    """Save an LTX pipeline."""
    LTXImageToVideoPipeline(**_ltx_parts()).save_pretrained(folder)


def save_ltx_from_text(folder: Path) -> None:
    """Save the same parts under the text-to-video class, as LTX-Video itself is stored."""
    LTXPipeline(**_ltx_parts()).save_pretrained(folder)


def save_svd(folder: Path) -> None:
    """Save a Stable Video Diffusion pipeline, which reads no prompt."""
    pipeline = StableVideoDiffusionPipeline(
        vae=AutoencoderKLTemporalDecoder(
            in_channels=3,
            out_channels=3,
            down_block_types=("DownEncoderBlock2D",) * 4,
            block_out_channels=(32, 32, 32, 32),
            latent_channels=4,
        ),
        image_encoder=CLIPVisionModelWithProjection(_clip(side=224, hidden=32, patch=32)),
        unet=UNetSpatioTemporalConditionModel(
            block_out_channels=(32, 64),
            layers_per_block=1,
            sample_size=32,
            in_channels=8,
            out_channels=4,
            down_block_types=("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"),
            up_block_types=("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"),
            cross_attention_dim=32,
            num_attention_heads=8,
            projection_class_embeddings_input_dim=96,
            addition_time_embed_dim=32,
            num_frames=4,
        ),
        scheduler=EulerDiscreteScheduler(
            interpolation_type="linear", prediction_type="v_prediction", use_karras_sigmas=True
        ),
        feature_extractor=CLIPImageProcessor(crop_size=224, size=224),
    )
    pipeline.save_pretrained(folder)


SAVE: dict[str, Callable[[Path], None]] = {
    "wan": save_wan,
    "cogvideox": save_cogvideox,
    "ltx": save_ltx,
    "ltx_from_text": save_ltx_from_text,
    "svd": save_svd,
}


def save(family: str, folder: Path) -> None:
    """Save the family's tiny pipeline, with weights that are the same every time."""
    torch.manual_seed(0)
    SAVE[family](folder)


def _ltx_parts() -> dict[str, Any]:
    return {
        "tokenizer": _tokenizer(),
        "text_encoder": T5EncoderModel(T5Config(**TEXT)),
        "vae": AutoencoderKLLTXVideo(
            latent_channels=8,
            block_out_channels=(8, 8, 8, 8),
            decoder_block_out_channels=(8, 8, 8, 8),
            layers_per_block=(1, 1, 1, 1, 1),
            decoder_layers_per_block=(1, 1, 1, 1, 1),
        ),
        "scheduler": FlowMatchEulerDiscreteScheduler(),
        "transformer": LTXVideoTransformer3DModel(
            in_channels=8,
            out_channels=8,
            num_attention_heads=4,
            attention_head_dim=8,
            cross_attention_dim=32,
            num_layers=1,
            caption_channels=32,
        ),
    }


def _clip(*, side: int, hidden: int, patch: int = 2) -> CLIPVisionConfig:
    return CLIPVisionConfig(
        hidden_size=hidden,
        projection_dim=hidden,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=side,
        intermediate_size=16,
        patch_size=patch,
    )


def _tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of single letters."""
    words = ["<pad>", "</s>", "<unk>", *"abcdefghijklmnopqrstuvwxyz.,"]
    inner = Tokenizer(models.Unigram([(word, -float(i)) for i, word in enumerate(words)], unk_id=2))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=512
    )
