#include "model/train/tape/run_ends.hpp"

#include <algorithm>
#include <optional>

#include "hardware/units.hpp"
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {

void around_encoder(Tape& tape, const Part& part) {
  const TapeMode& mode = tape.mode();
  std::optional<Value> made;
  for (const Module& m : part.modules) {
    if (is_pooler(m) || is_norm_of_distances(m) ||
        std::any_of(part.blocks.begin(), part.blocks.end(),
                    [&](const std::string& block) { return m.path.starts_with(block); }))
      continue;
    const auto weight =
        std::find_if(part.tensors.begin(), part.tensors.end(), [&](const Tensor& t) {
          return t.module() == m.path && (t.role == Role::norm || t.role == Role::matmul);
        });
    if (weight == part.tensors.end()) {
      if (made && is_linear_unit(m)) tape.keeps_input(*made);
      made.reset();
      continue;
    }
    const Shape& shape = weight->shape;
    const Value x = tape.make(tokens(shape.back()), mode.parameters, true);
    if (weight->role == Role::norm)
      run_norm(tape, x, {norm_kind(m), shape.back()}, tokens(1));
    else if (shape.size() == 2)
      made = tape.linear(x, shape[1], shape[0], tokens(1), mode.trained);
  }
}

Tape::Sums around_tower(const Model& model, const TapeMode& mode, const VisionTower& tower) {
  TapeMode ends = mode;
  ends.operand_bits = 0;
  Tape tape(ends);
  // Elements a patch of what has `width` a token.
  const auto merged = [&](Size width) { return tokens(divided_up(width, tower.patches_of_token)); };
  std::optional<Value> made;
  bool grad = mode.tower_trained;
  for (const Module& m : model.part.modules) {
    const bool inside = tower.contains(m.path);
    if (!inside && !is_projector(m.path)) continue;
    if (std::any_of(model.part.blocks.begin(), model.part.blocks.end(),
                    [&](const std::string& block) { return m.path.starts_with(block); }))
      continue;
    const bool trained = mode.trained && (!inside || mode.tower_trained);
    if (!trained && !grad) continue;  // no gradient comes by
    const auto weight =
        std::find_if(model.part.tensors.begin(), model.part.tensors.end(), [&](const Tensor& t) {
          return t.module() == m.path &&
                 (t.role == Role::norm || t.role == Role::matmul || t.role == Role::conv);
        });
    if (weight == model.part.tensors.end()) {
      if (made && is_linear_unit(m)) tape.keeps_input(*made);
      made.reset();
      continue;
    }
    const Shape& shape = weight->shape;
    if (weight->role == Role::conv) {  // autocast converts pixels and weights
      const Size pixels = weight->elements() / shape.front();
      if (mode.autocast && trained)
        tape.linear(tape.make(tokens(pixels), Held::fp32, true), pixels, shape.front(), tokens(1),
                    trained);
      continue;
    }
    const bool of_patches = shape.back() == tower.hidden;
    const Size width = shape.back();
    const Value x = tape.make(of_patches ? tokens(width) : merged(width), mode.parameters, grad);
    grad = grad || trained;
    if (weight->role == Role::norm) {
      const Size rows = of_patches ? 1 : 0;
      run_norm(tape, x, {norm_kind(m), width}, tokens(rows));
    } else if (shape.size() == 2) {
      tape.linear(x, shape[1], shape[0], tokens(1), trained);
      made = tape.make(merged(shape[0]), mode.autocast ? Held::bf16 : mode.parameters, true);
    }
  }
  return tape.saved();
}

}  // namespace headroom::model
