// States of the optimizers in torch-optimizer 0.3 and pytorch-optimizer 4.1, under those packages'
// names.
#pragma once

#include "model/train/optimizer_rules.hpp"

namespace headroom::model::optimizer_rules::collected {

inline constexpr auto bf16 = StateElement::bf16;
inline constexpr StateRule exp_avg_32{"exp_avg", nullptr, fp32},
    exp_avg_sq_32{"exp_avg_sq", nullptr, fp32}, slow_buffer{"slow_buffer"};
constexpr StateRule group_scalar(std::string_view name) {
  return {name, single, fp32, nullptr, each_group};
}
constexpr StateRule per_dimension(std::string_view name, Shape (*shape)(const Shape&, Size, Size),
                                  bool (*kept)(const Shape&, Size) = nullptr) {
  return {name, shape, as_parameter, kept, each_dimension};
}

inline constexpr StateRule adamod[] = {exp_avg, exp_avg_sq, {"exp_avg_lr"}};
inline constexpr StateRule novograd[] = {exp_avg, {"exp_avg_sq", scalar, fp32}};
inline constexpr StateRule novograd_moments[] = {{"grads_ema", scalar}, {"moments"}};
inline constexpr StateRule ranger_32[] = {exp_avg_32, exp_avg_sq_32, slow_buffer};
inline constexpr StateRule ranger_va[] = {
    exp_avg_32, exp_avg_sq_32, {"max_exp_avg_sq"}, slow_buffer};
inline constexpr StateRule ranger[] = {exp_avg, exp_avg_sq, slow_buffer};
inline constexpr StateRule moments_32[] = {exp_avg_32, exp_avg_sq_32};
inline constexpr StateRule plain_momentum[] = {{"momentum"}};
inline constexpr StateRule apollo_newton[] = {{"exp_avg_grad"}, {"approx_hessian"}, {"update"}};
inline constexpr StateRule swats[] = {exp_avg, exp_avg_sq, {"exp_avg2", single}};
inline constexpr StateRule a2grad[] = {{"avg_grad"}, {"x_k"}};
inline constexpr StateRule a2grad_scaled[] = {{"v_k", single}, {"avg_grad"}, {"x_k"}};
inline constexpr StateRule aggregated[] = {
    {"momentum_buffer.0.0"}, {"momentum_buffer.0.9"}, {"momentum_buffer.0.99"}};
inline constexpr StateRule differences[] = {exp_avg, exp_avg_sq, {"previous_grad"}};
inline constexpr StateRule lamb[] = {
    exp_avg, exp_avg_sq, {"weight_norm", scalar}, {"adam_norm", scalar}, {"trust_ratio", scalar}};
inline constexpr StateRule madgrad[] = {{"grad_sum_sq"}, {"s"}, {"x0"}};
inline constexpr StateRule hessian[] = {exp_avg, {"exp_hessian_diag_sq"}};
inline constexpr StateRule shampoo[] = {per_dimension("precond_#", square),
                                        per_dimension("inv_precond_#", square), momentum_buffer};
inline constexpr StateRule shampoo_named[] = {
    per_dimension("pre_cond_#", square), per_dimension("inv_pre_cond_#", square), momentum_buffer};
inline constexpr StateRule factored[] = {{"exp_avg_sq_row", rows, as_parameter, has_sides},
                                         {"exp_avg_sq_col", columns, as_parameter, has_sides},
                                         {"exp_avg_sq", nullptr, as_parameter, is_vector},
                                         {"RMS", scalar}};
inline constexpr StateRule factored_bf16[] = {{"exp_avg", nullptr, bf16},
                                              {"exp_avg_sq_row", rows, as_parameter, has_sides},
                                              {"exp_avg_sq_col", columns, as_parameter, has_sides},
                                              {"exp_avg_sq", nullptr, as_parameter, is_vector}};
inline constexpr StateRule adai[] = {exp_avg, exp_avg_sq, {"beta1_prod"}};
inline constexpr StateRule adadelta[] = {{"square_avg"}, {"acc_delta"}};
inline constexpr StateRule adalite[] = {{"v_avg_0", first, as_parameter, has_sides},
                                        {"v_avg_1", behind_first, as_parameter, has_sides},
                                        {"m_avg_c", first_kept, as_parameter, has_sides},
                                        {"m_avg_r", behind_kept, as_parameter, has_sides},
                                        {"m_avg_u", unit_matrix, as_parameter, has_sides},
                                        {"m_avg", nullptr, as_parameter, is_vector},
                                        {"v_avg", nullptr, as_parameter, is_vector}};
inline constexpr StateRule adamuon[] = {{"m"}, {"v", flat}};
inline constexpr StateRule adago[] = {momentum_buffer, {"v", scalar}};
inline constexpr StateRule adanorm[] = {exp_avg, exp_avg_var, {"exp_grad_norm", single}};
inline constexpr StateRule adasmooth[] = {{"prev_param"}, {"s"}, {"n"}, exp_avg_sq};
inline constexpr StateRule adatam[] = {{"s"}, exp_avg, exp_avg_sq};
inline constexpr StateRule adagc[] = {exp_avg, exp_avg_sq, {"gamma", scalar}};
inline constexpr StateRule adamax[] = {exp_avg, {"exp_inf"}};
inline constexpr StateRule adapnm[] = {exp_avg, exp_avg_sq, {"neg_exp_avg"}, {"max_exp_avg_sq"}};
inline constexpr StateRule adamg[] = {{"m"}, {"v"}, {"r"}};
inline constexpr StateRule adan[] = {exp_avg, exp_avg_sq, {"exp_avg_diff"}, {"previous_grad"}};
inline constexpr StateRule ademamix[] = {exp_avg, exp_avg_sq, {"exp_avg_slow"}};
inline constexpr StateRule amos[] = {{"exp_avg_sq", scalar}, {"decay", scalar}};
inline constexpr StateRule low_rank[] = {
    {"projector.ortho_matrix", projector}, {"exp_avg", projected}, {"exp_avg_sq", projected}};
inline constexpr StateRule low_rank_scaled[] = {{"projector.ortho_matrix", projector},
                                                {"exp_avg", projected},
                                                {"exp_avg_sq", projected},
                                                {"scaling_grad", scalar}};
inline constexpr StateRule asgd[] = {
    group_scalar("group.prev_param_norm"), group_scalar("group.prev_grad_norm"),
    group_scalar("group.curr_param_norm"), group_scalar("group.curr_grad_norm")};
inline constexpr StateRule bcos[] = {{"m"}};
inline constexpr StateRule came[] = {exp_avg,
                                     {"exp_avg_sq_row", rows, as_parameter, has_sides},
                                     {"exp_avg_sq_col", columns, as_parameter, has_sides},
                                     {"exp_avg_res_row", rows, as_parameter, has_sides},
                                     {"exp_avg_res_col", columns, as_parameter, has_sides},
                                     {"exp_avg_sq", nullptr, as_parameter, is_vector},
                                     {"RMS", scalar}};
inline constexpr StateRule conda[] = {
    exp_avg, exp_avg_sq, {"projector.ortho_matrix", smaller_square, as_parameter, is_matrix}};
inline constexpr StateRule adapted_adagrad[] = {{"alpha_k"},
                                                {"sk"},
                                                {"x0"},
                                                group_scalar("group.gsq_weighted"),
                                                group_scalar("group.sk_sq_weighted"),
                                                group_scalar("group.sk_l1")};
inline constexpr StateRule adapted_adam[] = {
    {"s"}, exp_avg, exp_avg_sq, group_scalar("group.numerator_weighted")};
inline constexpr StateRule adapted_adan[] = {{"s"},
                                             exp_avg,
                                             exp_avg_sq,
                                             {"exp_avg_diff"},
                                             {"previous_grad"},
                                             group_scalar("group.gsq_weighted")};
inline constexpr StateRule adapted_lion[] = {
    exp_avg, {"s"}, group_scalar("group.numerator_weighted")};
inline constexpr StateRule adapted_sgd[] = {
    {"z"}, {"s"}, {"x0"}, group_scalar("group.numerator_weighted")};
inline constexpr StateRule emofact[] = {{"exp_avg_r", first_of_ones, as_parameter, has_sides},
                                        {"exp_avg_c", one_of_first, as_parameter, has_sides},
                                        {"exp_avg", nullptr, as_parameter, is_vector},
                                        {"exp_avg_sq", nullptr, as_parameter, is_vector}};
inline constexpr StateRule fadam[] = {{"momentum", nullptr, fp32}, {"fim", nullptr, fp32}};
inline constexpr StateRule focus[] = {exp_avg, {"pbar"}};
inline constexpr StateRule ftrl[] = {{"z"}, {"n"}};
inline constexpr StateRule grokfast[] = {exp_avg, exp_avg_sq, {"grok_exp_avg"}};
inline constexpr StateRule flash[] = {{"exp_avg::quantized", nullptr, StateElement::int8},
                                      {"exp_avg::scales", blocks_of_32, StateElement::fp16},
                                      {"exp_avg_sq::quantized", nullptr, StateElement::uint8},
                                      {"exp_avg_sq::scales", blocks_of_32, StateElement::fp16}};
inline constexpr StateRule gravity[] = {{"v"}};
inline constexpr StateRule kate[] = {{"m"}, {"b"}};
inline constexpr StateRule mars[] = {exp_avg, exp_avg_sq, {"last_grad"}};
inline constexpr StateRule nero[] = {{"exp_avg_sq", first_of_ones, as_parameter, has_sides},
                                     {"exp_avg_sq", nullptr, as_parameter, is_vector},
                                     {"scale", scalar}};
inline constexpr StateRule pnm[] = {{"pos_momentum"}, {"neg_momentum"}};
inline constexpr StateRule prodigy[] = {{"s"},
                                        {"p0"},
                                        exp_avg,
                                        exp_avg_sq,
                                        group_scalar("group.d_numerator"),
                                        group_scalar("group.d_de_nom")};
inline constexpr StateRule qhadam[] = {
    {"beta1_weight", single, fp32}, {"beta2_weight", single, fp32}, exp_avg, exp_avg_sq};
inline constexpr StateRule racs[] = {{"s", first}, {"q", behind_first}, {"theta", scalar}};
inline constexpr StateRule scion[] = {{"d"}};
inline constexpr StateRule schedule_free[] = {{"z"}, exp_avg_sq};
inline constexpr StateRule schedule_free_sgd[] = {{"z"}};
inline constexpr StateRule sgdsai[] = {momentum_buffer, {"gsnr", scalar}};
inline constexpr StateRule sm3[] = {momentum_buffer, per_dimension("accumulator_#", only)};
inline constexpr StateRule soap[] = {exp_avg, exp_avg_sq, per_dimension("GG[#]", square, has_sides),
                                     per_dimension("Q[#]", square, has_sides)};
inline constexpr StateRule spam[] = {{"mask", nullptr, StateElement::boolean, is_matrix},
                                     {"exp_avg", flat, as_parameter, is_matrix},
                                     {"exp_avg_sq", flat, as_parameter, is_matrix},
                                     {"exp_avg", nullptr, as_parameter, not_matrix},
                                     {"exp_avg_sq", nullptr, as_parameter, not_matrix}};
inline constexpr StateRule splus[] = {{"momentum"},
                                      {"ema"},
                                      per_dimension("sides[#]", square, is_matrix),
                                      per_dimension("q_sides[#]", square, is_matrix)};
inline constexpr StateRule srmm[] = {{"mov_avg_grad"}, {"mov_avg_param"}};
inline constexpr StateRule stable_adamw[] = {
    exp_avg, exp_avg_sq, {"kahan_comp", nullptr, as_parameter, is_16bit}};
inline constexpr StateRule stable_spam[] = {
    exp_avg, exp_avg_sq, {"m_norm_t", scalar}, {"v_norm_t", scalar}, {"m_max_t", scalar}};
inline constexpr StateRule tam[] = {{"s"}, momentum_buffer};
inline constexpr StateRule vsgd[] = {{"mug"}, {"bg"}, {"bhg"}};

}  // namespace headroom::model::optimizer_rules::collected
