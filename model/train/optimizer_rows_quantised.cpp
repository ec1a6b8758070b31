// Optimizers with quantised states, and the full-precision ones of the same packages.
//
// bitsandbytes 0.50: dynamic 8-bit blocks of 256, with an fp32 maximum each and a table of 256
// values for each state. Tensors below 4096 elements stay in fp32, whatever the parameter's type.
// torchao 0.18: blocks of 256 (8 bit, fp8) or 128 (4 bit), only for tensors of at least 4096
// elements in whole blocks.
#include "model/train/optimizer_rules.hpp"

namespace headroom::model::optimizer_rules {
namespace {

constexpr auto uint8 = StateElement::uint8;
constexpr auto fp8 = StateElement::fp8;

constexpr StateRule wide_1[] = {{"state1", nullptr, fp32}};
constexpr StateRule wide_2[] = {{"state1", nullptr, fp32}, {"state2", nullptr, fp32}};
constexpr StateRule wide_3[] = {{"state1", twice, fp32}, {"state2", nullptr, fp32}};
constexpr StateRule wide_normed_1[] = {{"state1", nullptr, fp32}, {"unorm_vec", single, fp32}};
constexpr StateRule wide_normed_2[] = {
    {"state1", nullptr, fp32}, {"state2", nullptr, fp32}, {"unorm_vec", single, fp32}};
constexpr StateRule small_1[] = {{"state1", nullptr, uint8, from_4096},
                                 {"qmap1", table_of_256, fp32, from_4096},
                                 {"absmax1", blocks_of_256, fp32, from_4096},
                                 {"state1", nullptr, fp32, below_4096}};
constexpr StateRule small_2[] = {
    {"state1", nullptr, uint8, from_4096},       {"qmap1", table_of_256, fp32, from_4096},
    {"absmax1", blocks_of_256, fp32, from_4096}, {"state1", nullptr, fp32, below_4096},
    {"state2", nullptr, uint8, from_4096},       {"qmap2", table_of_256, fp32, from_4096},
    {"absmax2", blocks_of_256, fp32, from_4096}, {"state2", nullptr, fp32, below_4096}};
constexpr StateRule small_3[] = {{"state1", twice, uint8, from_4096},
                                 {"qmap1", table_of_256, fp32, from_4096},
                                 {"absmax1", twice_blocks_of_256, fp32, from_4096},
                                 {"state1", twice, fp32, below_4096},
                                 {"state2", nullptr, uint8, from_4096},
                                 {"qmap2", table_of_256, fp32, from_4096},
                                 {"absmax2", blocks_of_256, fp32, from_4096},
                                 {"state2", nullptr, fp32, below_4096}};
constexpr StateRule small_normed_1[] = {{"state1", nullptr, uint8, from_4096},
                                        {"qmap1", table_of_256, fp32, from_4096},
                                        {"absmax1", blocks_of_256, fp32, from_4096},
                                        {"state1", nullptr, fp32, below_4096},
                                        {"unorm_vec", single, fp32}};
constexpr StateRule small_normed_2[] = {{"state1", nullptr, uint8, from_4096},
                                        {"qmap1", table_of_256, fp32, from_4096},
                                        {"absmax1", blocks_of_256, fp32, from_4096},
                                        {"state1", nullptr, fp32, below_4096},
                                        {"state2", nullptr, uint8, from_4096},
                                        {"qmap2", table_of_256, fp32, from_4096},
                                        {"absmax2", blocks_of_256, fp32, from_4096},
                                        {"state2", nullptr, fp32, below_4096},
                                        {"unorm_vec", single, fp32}};

constexpr StateRule rate{"group.lr", scalar, fp32, nullptr, each_group};
constexpr StateRule blocks_8bit[] = {step,
                                     {"exp_avg.codes", nullptr, uint8, whole_blocks_256},
                                     {"exp_avg.scale", blocks_of_256, fp32, whole_blocks_256},
                                     {"exp_avg.qmap", table_of_256, fp32, whole_blocks_256},
                                     {"exp_avg", nullptr, as_parameter, no_blocks_256},
                                     {"exp_avg_sq.codes", nullptr, uint8, whole_blocks_256},
                                     {"exp_avg_sq.scale", blocks_of_256, fp32, whole_blocks_256},
                                     {"exp_avg_sq.qmap", table_of_256, fp32, whole_blocks_256},
                                     {"exp_avg_sq", nullptr, as_parameter, no_blocks_256},
                                     rate};
constexpr StateRule blocks_4bit[] = {step,
                                     {"exp_avg.codes", half_flat, uint8, whole_blocks_128},
                                     {"exp_avg.scale", blocks_of_128, fp32, whole_blocks_128},
                                     {"exp_avg.qmap", table_of_16, fp32, whole_blocks_128},
                                     {"exp_avg", nullptr, as_parameter, no_blocks_128},
                                     {"exp_avg_sq.codes", half_flat, uint8, whole_blocks_128},
                                     {"exp_avg_sq.scale", blocks_of_128, fp32, whole_blocks_128},
                                     {"exp_avg_sq.qmap", table_of_16, fp32, whole_blocks_128},
                                     {"exp_avg_sq", nullptr, as_parameter, no_blocks_128},
                                     rate};
constexpr StateRule blocks_fp8[] = {step,
                                    {"exp_avg.codes", nullptr, fp8, whole_blocks_256},
                                    {"exp_avg.scale", blocks_of_256, fp32, whole_blocks_256},
                                    {"exp_avg", nullptr, as_parameter, no_blocks_256},
                                    {"exp_avg_sq.codes", nullptr, fp8, whole_blocks_256},
                                    {"exp_avg_sq.scale", blocks_of_256, fp32, whole_blocks_256},
                                    {"exp_avg_sq", nullptr, as_parameter, no_blocks_256},
                                    rate};
constexpr StateRule wide_torchao[] = {step, exp_avg, exp_avg_sq, rate};

constexpr std::string_view bnb = "bitsandbytes", usual = "defaults",
                           with_momentum = "defaults,momentum=0.9";

constexpr Optimizer quantised_table[] = {
    {"adamw-8bit adamw-bnb-8bit adamw8bit", bnb, "AdamW8bit", usual, small_2},
    {"adamw-32bit adamw-bnb", bnb, "AdamW32bit", usual, wide_2},
    {"", bnb, "AdamW", usual, wide_2},
    {"paged-adamw-8bit", bnb, "PagedAdamW8bit", usual, small_2, "", 0, 0, true},
    {"paged-adamw-32bit", bnb, "PagedAdamW32bit", usual, wide_2, "", 0, 0, true},
    {"paged-adamw", bnb, "PagedAdamW", usual, wide_2, "", 0, 0, true},
    {"adam-8bit", bnb, "Adam8bit", usual, small_2},
    {"adam-32bit", bnb, "Adam32bit", usual, wide_2},
    {"", bnb, "Adam", usual, wide_2},
    {"paged-adam-8bit", bnb, "PagedAdam8bit", usual, small_2, "", 0, 0, true},
    {"paged-adam-32bit", bnb, "PagedAdam32bit", usual, wide_2, "", 0, 0, true},
    {"paged-adam", bnb, "PagedAdam", usual, wide_2, "", 0, 0, true},
    {"ademamix-8bit", bnb, "AdEMAMix8bit", usual, small_3},
    {"ademamix", bnb, "AdEMAMix", usual, wide_3},
    {"paged-ademamix-8bit", bnb, "PagedAdEMAMix8bit", usual, small_3, "", 0, 0, true},
    {"paged-ademamix paged-ademamix-32bit", bnb, "PagedAdEMAMix", usual, wide_3, "", 0, 0, true},
    {"lion-8bit", bnb, "Lion8bit", usual, small_1},
    {"lion-32bit", bnb, "Lion32bit", usual, wide_1},
    {"", bnb, "Lion", usual, wide_1},
    {"paged-lion-8bit", bnb, "PagedLion8bit", usual, small_1, "", 0, 0, true},
    {"paged-lion-32bit", bnb, "PagedLion32bit", usual, wide_1, "", 0, 0, true},
    {"paged-lion", bnb, "PagedLion", usual, wide_1, "", 0, 0, true},
    {"lamb-8bit", bnb, "LAMB8bit", usual, small_normed_2},
    {"lamb-32bit", bnb, "LAMB32bit", usual, wide_normed_2},
    {"", bnb, "LAMB", usual, wide_normed_2},
    {"lars-8bit", bnb, "LARS8bit", with_momentum, small_normed_1},
    {"lars-32bit", bnb, "LARS32bit", with_momentum, wide_normed_1},
    {"", bnb, "LARS", with_momentum, wide_normed_1},
    {"sgd-8bit", bnb, "SGD8bit", with_momentum, small_1},
    {"sgd-32bit", bnb, "SGD32bit", with_momentum, wide_1},
    {"", bnb, "SGD", with_momentum, wide_1},
    {"rmsprop-8bit rmsprop-bnb-8bit", bnb, "RMSprop8bit", usual, small_1},
    {"rmsprop-32bit rmsprop-bnb-32bit rmsprop-bnb", bnb, "RMSprop32bit", usual, wide_1},
    {"", bnb, "RMSprop", usual, wide_1},
    {"adagrad-8bit", bnb, "Adagrad8bit", usual, small_1},
    {"adagrad-32bit", bnb, "Adagrad32bit", usual, wide_1},
    {"", bnb, "Adagrad", usual, wide_1},
    {"adamw-torch-8bit adamw-8bit-torchao", "torchao", "AdamW8bit", "", blocks_8bit},
    {"adamw-torch-4bit adamw-4bit", "torchao", "AdamW4bit", "", blocks_4bit},
    {"adamw-fp8", "torchao", "AdamWFp8", "", blocks_fp8},
    {"adam-torch-8bit", "torchao", "Adam8bit", "", blocks_8bit},
    {"adam-torch-4bit adam-4bit", "torchao", "Adam4bit", "", blocks_4bit},
    {"adam-fp8", "torchao", "AdamFp8", "", blocks_fp8},
    {"", "torchao", "_AdamW", "", wide_torchao},
};

}  // namespace

std::span<const Optimizer> quantised_optimizers() { return quantised_table; }

}  // namespace headroom::model::optimizer_rules
