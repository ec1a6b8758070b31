#include "model/checkpoint/formats/gguf_types.hpp"

#include <algorithm>
#include <array>

namespace headroom::model {
namespace {

/// Source: llama.cpp and ik_llama.cpp, ggml/include/ggml.h, ggml/src/ggml-common.h and ggml.c
/// (row_meta_size). "_R4" to "_R16": rows are interleaved for some CPUs, which takes no bytes.
constexpr auto types = std::to_array<GgufType>({
    {0, "F32", 1, 4},
    {1, "F16", 1, 2},
    {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},
    {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},
    {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},
    {12, "Q4_K", 256, 144},
    {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},
    {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98},
    {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},
    {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136},
    {24, "I8", 1, 1},
    {25, "I16", 1, 2},
    {26, "I32", 1, 4},
    {27, "I64", 1, 8},
    {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},
    {31, "Q4_0_4_4", 32, 18},
    {32, "Q4_0_4_8", 32, 18},
    {33, "Q4_0_8_8", 32, 18},
    {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},
    {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},
    {42, "Q2_0", 64, 18},
    // Only ik_llama.cpp has these.
    {133, "Q6_0", 32, 26},
    {134, "IQ1_BN", 64, 13, 2},
    {135, "IQ2_BN", 64, 16, 4},
    {137, "IQ2_K", 256, 76},
    {138, "IQ3_K", 256, 110},
    {139, "IQ4_K", 256, 144},
    {140, "IQ5_K", 256, 176},
    {141, "IQ6_K", 256, 212},
    {144, "IQ4_KS", 256, 136, 4},
    {145, "IQ2_KS", 256, 70, 2},
    {146, "IQ4_KSS", 256, 128, 4},
    {151, "Q8_KV", 32, 32, 8},
    {152, "IQ5_KS", 256, 168, 4},
    {153, "IQ2_KT", 256, 68, 4},
    {154, "IQ3_KT", 256, 100, 4},
    {155, "IQ4_KT", 256, 128, 4},
    {156, "IQ3_KS", 256, 102, 2},
    {157, "IQ2_KL", 256, 86, 2},
    {158, "IQ1_KT", 256, 56, 4},
    {202, "Q4_0_R8", 32, 18},
    {206, "Q5_0_R4", 32, 22},
    {208, "Q8_0_R8", 32, 34},
    {210, "Q2_K_R4", 256, 84},
    {211, "Q3_K_R4", 256, 110},
    {212, "Q4_K_R4", 256, 144},
    {213, "Q5_K_R4", 256, 176},
    {214, "Q6_K_R4", 256, 210},
    {216, "IQ2_XXS_R4", 256, 66},
    {217, "IQ2_XS_R4", 256, 74},
    {218, "IQ3_XXS_R4", 256, 98},
    {219, "IQ1_S_R4", 32, 6, 2},
    {220, "IQ4_NL_R4", 32, 18},
    {221, "IQ3_S_R4", 256, 110},
    {222, "IQ2_S_R4", 256, 82},
    {223, "IQ4_XS_R8", 256, 136},
    {229, "IQ1_M_R4", 32, 7, 2},
    {230, "BF16_R16", 1, 2},
    {233, "Q6_0_R4", 32, 26},
    {335, "IQ2_BN_R4", 64, 16, 4},
    {337, "IQ2_K_R4", 256, 76},
    {338, "IQ3_K_R4", 256, 110},
    {339, "IQ4_K_R4", 256, 144},
    {340, "IQ5_K_R4", 256, 176},
    {344, "IQ4_KS_R4", 256, 136, 4},
    {352, "IQ5_KS_R4", 256, 168, 4},
    {397, "Q8_K_R16", 256, 258},
    {398, "Q8_KV_R8", 32, 32, 4},
    {399, "Q8_K_R8", 256, 258},
});

}  // namespace

const GgufType* gguf_type(std::uint32_t id) {
  const auto found = std::ranges::find(types, id, &GgufType::id);
  return found == types.end() ? nullptr : &*found;
}

bool is_gguf_type_of_ik(std::string_view name) {
  constexpr std::uint32_t first = 133;
  const auto found = std::ranges::find(types, name, &GgufType::name);
  return found != types.end() && found->id >= first;
}

}  // namespace headroom::model
