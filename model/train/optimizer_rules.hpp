// Building blocks of the optimizer tables: shapes of states derived from a parameter's shape.
#pragma once

#include "model/train/optimizer.hpp"

namespace headroom::model::optimizer_rules {

// ---- shapes: of the parameter, the rank of projections, the number of the dimension -------------

Shape scalar(const Shape&, Size, Size);
Shape single(const Shape&, Size, Size);          ///< [1]
Shape flat(const Shape&, Size, Size);            ///< all elements in one dimension
Shape half_flat(const Shape&, Size, Size);       ///< two elements in one byte
Shape twice(const Shape&, Size, Size);           ///< [2, the parameter's]
Shape rows(const Shape&, Size, Size);            ///< drops the last dimension
Shape columns(const Shape&, Size, Size);         ///< drops the last dimension but one
Shape kept_rows(const Shape&, Size, Size);       ///< last dimension becomes 1
Shape kept_columns(const Shape&, Size, Size);    ///< last dimension but one becomes 1
Shape first(const Shape&, Size, Size);           ///< [first dimension]
Shape behind_first(const Shape&, Size, Size);    ///< [product of the other dimensions]
Shape first_kept(const Shape&, Size, Size);      ///< [first, 1] of the parameter as a matrix
Shape behind_kept(const Shape&, Size, Size);     ///< [1, others] of it
Shape unit_matrix(const Shape&, Size, Size);     ///< [1, 1]
Shape first_of_ones(const Shape&, Size, Size);   ///< [first, 1, ...]
Shape one_of_first(const Shape&, Size, Size);    ///< [1, others...]
Shape square(const Shape&, Size, Size i);        ///< [dimension i, dimension i]
Shape only(const Shape&, Size, Size i);          ///< ones except dimension i
Shape smaller_square(const Shape&, Size, Size);  ///< square of the smaller side
Shape projector(const Shape&, Size rank, Size);  ///< GaLore: [m, r] where m < n, else [r, n]
Shape projected(const Shape&, Size rank, Size);  ///< [r, n] where m < n, else [m, r]
Shape blocks_of_32(const Shape&, Size, Size);
Shape blocks_of_128(const Shape&, Size, Size);
Shape blocks_of_256(const Shape&, Size, Size);
Shape twice_blocks_of_256(const Shape&, Size, Size);
Shape table_of_16(const Shape&, Size, Size);
Shape table_of_256(const Shape&, Size, Size);

// ---- conditions ---------------------------------------------------------------------------------

bool is_matrix(const Shape&, Size);  ///< two dimensions
bool not_matrix(const Shape&, Size);
bool has_sides(const Shape&, Size);  ///< two dimensions or more
bool is_vector(const Shape&, Size);  ///< one dimension at most
bool from_4096(const Shape&, Size);  ///< elements: bitsandbytes' min_8bit_size
bool below_4096(const Shape&, Size);
bool whole_blocks_128(const Shape&, Size);  ///< torchao: from 4096 elements, in whole blocks
bool no_blocks_128(const Shape&, Size);
bool whole_blocks_256(const Shape&, Size);
bool no_blocks_256(const Shape&, Size);
bool is_16bit(const Shape&, Size parameter_bytes);
bool is_32bit(const Shape&, Size parameter_bytes);

// ---- states that many rows share ----------------------------------------------------------------

inline constexpr auto fp32 = StateElement::fp32;
inline constexpr auto as_parameter = StateElement::parameter;
inline constexpr auto each_tensor = StateRule::For::each_tensor;
inline constexpr auto each_dimension = StateRule::For::each_dimension;
inline constexpr auto each_group = StateRule::For::each_group;

inline constexpr StateRule step{"step", scalar, fp32};
inline constexpr StateRule exp_avg{"exp_avg"}, exp_avg_sq{"exp_avg_sq"}, exp_avg_var{"exp_avg_var"},
    momentum_buffer{"momentum_buffer"};
inline constexpr StateRule moments[] = {exp_avg, exp_avg_sq};
inline constexpr StateRule belief_moments[] = {exp_avg, exp_avg_var};
inline constexpr StateRule counted_moments[] = {step, exp_avg, exp_avg_sq};
inline constexpr StateRule momentum[] = {momentum_buffer};
inline constexpr StateRule first_moment[] = {exp_avg};

// The tables, grouped by the origin of the implementations.
std::span<const Optimizer> torch_optimizers();      ///< torch, transformers, single packages
std::span<const Optimizer> quantised_optimizers();  ///< bitsandbytes, torchao
std::span<const Optimizer> collected_optimizers();  ///< torch-optimizer, pytorch-optimizer

}  // namespace headroom::model::optimizer_rules
