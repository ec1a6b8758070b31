// Packed layouts beyond blocks of one format: bytes of a matrix with its scales, zero points and
// codebooks. n = out * in, g = the scheme's group.
#pragma once

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model::layout {

/// count * (out * in + 4): one fp32 scale a matrix.
/// Source: transformers 5.23 integrations/finegrained_fp8.py (no block size), ModelOpt FP8.
Bytes fp8_tensor(const Matrix& m, const Scheme& s);

/// As above with a second fp32 scale a matrix, for its input.
Bytes fp8_static(const Matrix& m, const Scheme& s);

/// count * (out * in + 4 * ceil(out / g) * ceil(in / g)): one fp32 scale a square of g x g.
/// Source: DeepSeek-V3's config (weight_block_size) and arXiv:2412.19437 section 3.3.
Bytes fp8_block(const Matrix& m, const Scheme& s);

/// The layout above with a scale of one byte (E8M0). Source: vLLM 0.33
/// models/deepseek_v4/quant_config.py.
Bytes fp8_block_e8m0(const Matrix& m, const Scheme& s);

/// count * (out * in + 2 * out): one 16-bit scale a row.
/// Source: compressed-tensors, strategy "channel" (FP8-dynamic, W8A8).
Bytes row_scaled(const Matrix& m, const Scheme& s);

/// count * (out * in + 4 * out + 1): one fp32 absolute maximum (SCB) a row, and a byte for the
/// layout (weight_format). Source: bitsandbytes nn/modules.py, Int8Params; arXiv:2208.07339.
Bytes llm_int8(const Matrix& m, const Scheme& s);

/// count * (4 * out * ceil(in * bits / 32) + 2 * out * groups + 16): 32 / bits values an int32, a
/// 16-bit scale a group, the shape as two int64.
/// Source: compressed-tensors, compressors/quantized_compressors/pack_quantized.py (symmetric).
Bytes packed_ints(const Matrix& m, const Scheme& s);

/// The layout above with the shape as two int32. Source: the published totals of Kimi-K2-Thinking
/// and Kimi-K2.5, whose configs do not name a version of compressed-tensors.
Bytes packed_ints_short_shape(const Matrix& m, const Scheme& s);

/// Adds two tensors that some of these checkpoints store. Asymmetric weights have zero points, 4 *
/// ceil(out * bits / 32) * groups. If groups follow the order of activations, each input has its
/// group, 4 * in. Source: as above, compression_param_info.
Bytes packed_ints_asymmetric(const Matrix& m, const Scheme& s);
Bytes packed_ints_ordered(const Matrix& m, const Scheme& s);
Bytes packed_ints_asymmetric_ordered(const Matrix& m, const Scheme& s);

/// count * (out * in + 4 * out): one fp32 scale a row.
/// Source: transformers 4.57 integrations/fbgemm_fp8.py; vLLM modelopt.py, FP8_PER_CHANNEL.
Bytes row_scaled_fp32(const Matrix& m, const Scheme& s);

/// n / 2 + 4 * ceil(n / 64) + 64: elements, an fp32 absolute maximum a block, a 16-entry fp32 map.
/// Source: bitsandbytes functional.py, quantize_4bit; arXiv:2305.14314 section 3.
Bytes bitsandbytes_4bit(const Matrix& m, const Scheme& s);

/// As above with 8-bit maxima: a byte a block, an fp32 for 256 blocks, a 256-entry fp32 map and an
/// fp32 offset. Source: bitsandbytes functional.py, compress_statistics.
Bytes bitsandbytes_4bit_double(const Matrix& m, const Scheme& s);

/// count * (4 * ceil(in * bits / 32) * out + 4 * groups * ceil(out * bits / 32) + 2 * groups * out
/// + 4 * in + 2 * out): qweight, qzeros, scales, g_idx, and the zero bias that AutoGPTQ stores for
/// a layer without one. Source: AutoGPTQ nn_modules/qlinear, register_buffer calls;
/// arXiv:2210.17323. Newer GPTQModel omits that bias.
Bytes gptq(const Matrix& m, const Scheme& s);

/// The layout above without the bias: GPTQModel nn_modules/qlinear (bias only if the layer has
/// one).
Bytes gptq_model(const Matrix& m, const Scheme& s);

/// The layout above without bias and group index. Source: auto-round 07dfed00
/// auto_round_extension/torch/qlinear_torch.py.
Bytes auto_round(const Matrix& m, const Scheme& s);

/// count * (4 * in * ceil(out / 8) + 4 * groups * ceil(out / 8) + 2 * groups * out): qweight,
/// qzeros, scales. Source: AutoAWQ modules/linear/gemm.py; arXiv:2306.00978.
Bytes awq(const Matrix& m, const Scheme& s);

/// count * (out * ceil(in / 16) * 9 + 8): eight bytes of elements and an fp8 scale for every 16,
/// two fp32 scales a matrix (weights and input). Source: NVIDIA ModelOpt, export of NVFP4.
Bytes nvfp4(const Matrix& m, const Scheme& s);

/// The layout above for 16-bit activations (W4A16_NVFP4, NVFP4A16), without the input's scale.
Bytes nvfp4_weights(const Matrix& m, const Scheme& s);

/// count * ceil(out * in * bits / 8): bits of a weight on average, scales included (Scheme::bits).
/// Source: turboderp/exllamav2 conversion/qparams.py, optimize.py.
Bytes exl2(const Matrix& m, const Scheme& s);

/// count * (ceil(out * in * bits / 8) + 2 * (out + in) + 4), out and in padded to 128. A trellis
/// has 16 * bits words for each tile of 16 x 16. Inputs and outputs have 16-bit scales, the code
/// book a multiplier. Source: exllamav3 1.6.5 modules/linear.py, modules/quant/exl3.py.
Bytes exl3(const Matrix& m, const Scheme& s);

/// count * out * (4 * ceil(in * bits / 32) + 4 * groups): codes in uint32, a 16-bit scale and a
/// 16-bit bias a group. Source: mlx.core.quantize, mode "affine"; mlx-lm 0.32.2 utils.py.
Bytes affine_groups(const Matrix& m, const Scheme& s);

/// count * (out * in + 5 * out): an fp32 scale and a zero point of a byte a row.
/// Source: torchao 0.18 quantize_/workflows/int8/int8_tensor.py.
Bytes torchao_int8(const Matrix& m, const Scheme& s);

/// count * (out * in + 3 * out * groups): a byte each, whatever the width, a 16-bit scale and a
/// zero point of a byte a group. Source: torchao 0.18
/// workflows/intx/intx_unpacked_to_int8_tensor.py.
Bytes torchao_bytes(const Matrix& m, const Scheme& s);

/// count * (out * in / 2 + 4 * out * groups): a 16-bit scale and zero point a group.
/// Source: torchao 0.18 workflows/int4/int4_tensor.py, int4_plain_int32_tensor.py.
Bytes torchao_int4(const Matrix& m, const Scheme& s);

/// The layout above, out padded to 8 and in to 1,024.
/// Source: torchao 0.18 workflows/int4/int4_tile_packed_to_4d_tensor.py.
Bytes torchao_int4_tiles(const Matrix& m, const Scheme& s);

}  // namespace headroom::model::layout
