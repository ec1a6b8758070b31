// Optimizers of torch 2.15, transformers 5.23 and packages with one optimizer. Temporary memory of
// a step follows torch/optim/*.py, _multi_tensor_*: square roots of all second moments.
#include "model/train/optimizer_rules.hpp"

namespace headroom::model::optimizer_rules {
namespace {

constexpr StateRule amsgrad[] = {step, exp_avg, exp_avg_sq, {"max_exp_avg_sq"}};
constexpr StateRule averaged_sgd[] = {step, {"eta", scalar, fp32}, {"mu", scalar, fp32}, {"ax"}};
constexpr StateRule adamax[] = {step, exp_avg, {"exp_inf"}};
constexpr StateRule nadam[] = {step, {"mu_product", scalar, fp32}, exp_avg, exp_avg_sq};
constexpr StateRule rprop[] = {step, {"prev"}, {"step_size"}};
constexpr StateRule adagrad[] = {step, {"sum"}};
constexpr StateRule rmsprop[] = {step, {"square_avg"}};
constexpr StateRule rmsprop_centred[] = {step, {"square_avg"}, {"grad_avg"}};
constexpr StateRule rmsprop_momentum[] = {step, {"square_avg"}, momentum_buffer};
constexpr StateRule rmsprop_both[] = {step, {"square_avg"}, momentum_buffer, {"grad_avg"}};
constexpr StateRule adadelta[] = {step, {"square_avg"}, {"acc_delta"}};
constexpr StateRule torch_adafactor[] = {step,
                                         {"row_var", kept_rows, as_parameter, has_sides},
                                         {"col_var", kept_columns, as_parameter, has_sides},
                                         {"variance", nullptr, as_parameter, is_vector}};
constexpr StateRule factored[] = {{"exp_avg_sq_row", rows, fp32, has_sides},
                                  {"exp_avg_sq_col", columns, fp32, has_sides},
                                  {"exp_avg_sq", nullptr, fp32, is_vector},
                                  {"RMS", scalar, fp32}};
constexpr StateRule factored_momentum[] = {{"exp_avg", nullptr, fp32},
                                           {"exp_avg_sq_row", rows, fp32, has_sides},
                                           {"exp_avg_sq_col", columns, fp32, has_sides},
                                           {"exp_avg_sq", nullptr, fp32, is_vector},
                                           {"RMS", scalar, fp32}};
constexpr StateRule came[] = {{"exp_avg", nullptr, fp32},
                              {"exp_avg_sq_row", rows, fp32, has_sides},
                              {"exp_avg_sq_col", columns, fp32, has_sides},
                              {"exp_avg_res_row", rows, fp32, has_sides},
                              {"exp_avg_res_col", columns, fp32, has_sides},
                              {"exp_avg_sq", nullptr, fp32, is_vector},
                              {"RMS", scalar}};
constexpr StateRule belief_amsgrad[] = {exp_avg, exp_avg_var, {"max_exp_avg_var"}};
constexpr StateRule schedule_free[] = {{"z"}, exp_avg_sq};
constexpr StateRule schedule_free_sgd[] = {{"z"}};
constexpr StateRule prodigy[] = {{"s", flat}, {"p0", flat}, exp_avg, exp_avg_sq};
constexpr StateRule adapted_adam[] = {{"s"}, exp_avg, exp_avg_sq};
constexpr StateRule adapted_sgd[] = {{"z"}, {"s"}, {"x0"}};
constexpr StateRule adapted_lion[] = {exp_avg, {"s"}};
constexpr StateRule adapted_adagrad[] = {{"alphak"}, {"sk"}, {"x0"}};
// The projector is a view of the first columns of a whole orthogonal factor. The factor stays in
// memory unless it is converted: 16-bit gradients are decomposed in fp32 and the result is copied
// back.
constexpr std::string_view projector_name = "projector.ortho_matrix";
constexpr StateRule galore[] = {
    {projector_name, projector, as_parameter, is_32bit, each_tensor, smaller_square},
    {projector_name, projector, as_parameter, is_16bit},
    {"exp_avg", projected},
    {"exp_avg_sq", projected}};
Shape projected_rows(const Shape& p, Size rank, Size) { return rows(projected(p, rank, 0), 0, 0); }
Shape projected_columns(const Shape& p, Size rank, Size) {
  return columns(projected(p, rank, 0), 0, 0);
}
constexpr StateRule galore_adafactor[] = {
    {projector_name, projector, fp32, nullptr, each_tensor, smaller_square},
    {"exp_avg_sq_row", projected_rows, fp32},
    {"exp_avg_sq_col", projected_columns, fp32},
    {"RMS", scalar, fp32}};
constexpr StateRule apollo[] = {{"projector.ortho_matrix", projector},
                                {"exp_avg", projected},
                                {"exp_avg_sq", projected},
                                {"scaled_grad", scalar}};

constexpr Optimizer torch_table[] = {
    {"adamw anyprecision", "torch", "AdamW", "", counted_moments, "", 0, 1},
    {"adamw-fused adamw-torch-fused", "torch", "AdamW", "fused", counted_moments},
    {"adamw-foreach adamw-torch", "torch", "AdamW", "foreach", counted_moments, "", 0, 1, false, 0,
     true},
    {"adamw-amsgrad", "torch", "AdamW", "amsgrad", amsgrad, "", 0, 1},
    {"adam", "torch", "Adam", "", counted_moments, "", 0, 1},
    {"adam-fused", "torch", "Adam", "fused", counted_moments},
    {"amsgrad adam-amsgrad", "torch", "Adam", "amsgrad", amsgrad, "", 0, 1},
    {"sgd", "torch", "SGD", "", {}},
    {"sgd-momentum momentum", "torch", "SGD", "momentum=0.9", momentum},
    {"nesterov sgd-nesterov", "torch", "SGD", "momentum=0.9,nesterov", momentum},
    {"adagrad", "torch", "Adagrad", "", adagrad, "", 0, 2},
    {"rmsprop", "torch", "RMSprop", "", rmsprop, "", 0, 1},
    {"rmsprop-centered", "torch", "RMSprop", "centered", rmsprop_centred, "", 0, 1},
    {"rmsprop-momentum", "torch", "RMSprop", "momentum=0.9", rmsprop_momentum, "", 0, 1},
    {"rmsprop-momentum-centered", "torch", "RMSprop", "momentum=0.9,centered", rmsprop_both, "", 0,
     1},
    {"adadelta", "torch", "Adadelta", "", adadelta, "", 0, 2},
    {"adamax", "torch", "Adamax", "", adamax, "", 0, 2},
    {"nadam", "torch", "NAdam", "", nadam, "", 0, 2},
    {"radam", "torch", "RAdam", "", counted_moments, "", 0, 1},
    {"rprop", "torch", "Rprop", "", rprop, "", 0, 1},
    {"asgd", "torch", "ASGD", "", averaged_sgd, "", 0, 1},
    {"sparse-adam", "torch", "SparseAdam", "sparse grads, nn.Embedding(sparse=True)", moments},
    {"adafactor-torch", "torch", "Adafactor", "", torch_adafactor},
    {"muon", "torch", "Muon", "", momentum, "adamw"},
    // transformers 5.17 optimization.py, Adafactor.step: grad, p_data_fp32, grad ** 2, update.
    {"adafactor", "transformers", "Adafactor", "beta1=None", factored, "", 0, 0, false, 4},
    {"adafactor-momentum", "transformers", "Adafactor", "beta1=0.9", factored_momentum, "", 0, 0,
     false, 4},
    {"lion", "lion-pytorch", "Lion", "", first_moment},
    {"adabelief", "adabelief-pytorch", "AdaBelief", "", belief_moments},
    {"adabelief-amsgrad", "adabelief-pytorch", "AdaBelief", "amsgrad", belief_amsgrad},
    {"schedule-free schedule-free-adamw", "schedulefree", "AdamWScheduleFree", "", schedule_free},
    {"schedule-free-radam", "schedulefree", "RAdamScheduleFree", "", schedule_free},
    {"schedule-free-sgd", "schedulefree", "SGDScheduleFree", "", schedule_free_sgd},
    {"prodigy", "prodigyopt", "Prodigy", "", prodigy},
    {"came", "came-pytorch", "CAME", "", came},
    {"d-adapt-adam", "dadaptation", "DAdaptAdam", "", adapted_adam},
    {"d-adapt-sgd", "dadaptation", "DAdaptSGD", "", adapted_sgd},
    {"d-adapt-lion", "dadaptation", "DAdaptLion", "", adapted_lion},
    {"d-adapt-adagrad", "dadaptation", "DAdaptAdaGrad", "", adapted_adagrad},
    {"galore galore-adamw", "galore-torch", "GaLoreAdamW", "proj_type=std", galore, "adamw", 128},
    {"galore-adafactor", "galore-torch", "GaLoreAdafactor", "proj_type=std", galore_adafactor,
     "adafactor", 128},
    {"apollo apollo-adamw", "apollo-torch", "APOLLOAdamW", "", apollo, "adamw", 128},
    {"apollo-mini", "apollo-torch", "APOLLOAdamW", "mini", apollo, "adamw", 1},
};

}  // namespace

std::span<const Optimizer> torch_optimizers() { return torch_table; }

}  // namespace headroom::model::optimizer_rules
