// The rows of vision encoders that are no part of a vision-language model here.
#include "model/architectures/rows.hpp"
#include "model/architectures/vision_encoder_families.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // dino.cpp
    {"Dinov2Model", "dinov2", dinov2},
    {"Dinov2ForImageClassification", "dinov2", dinov2},
    {"Dinov2WithRegistersModel", "dinov2_with_registers", dinov2},
    {"Dinov2WithRegistersForImageClassification", "dinov2_with_registers", dinov2},
    {"DINOv3ViTModel", "dinov3_vit", dinov3},
};

}  // namespace

std::span<const Architecture> vision_encoder_rows() { return rows; }

}  // namespace headroom::model::families
