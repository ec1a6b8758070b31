// Rows of the models that a machine runs, as a table and as a list.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"
#include "model/infer/estimate.hpp"
#include "report/table.hpp"

namespace headroom::sweep {

/// One model in its best way.
struct RunnableRow {
  std::unique_ptr<model::Model> model;
  std::string precision;
  const model::Engine* engine = nullptr;  ///< null: nothing holds it
  model::Estimate estimate;
  bool tight = false;
  bool faster_on_fewer = false;  ///< fewer of the machine's cards serve more
  Bytes download;                ///< files of the weights
  std::optional<Bytes> qlora;    ///< peak of one training step on one card, of the rows shown
};

/// True if all weights are on cards.
bool on_gpus(const RunnableRow& row);

/// True if its weights are below 4 bits, as the checkpoint's are not.
bool loses_more(const RunnableRow& row);

/// The first `most` rows with all columns.
report::Table runnable_table(const std::vector<RunnableRow>& rows, std::size_t most);

/// One line of the screen: a model, and how many more have the same figures.
struct RunnableLine {
  const RunnableRow* row;
  std::size_t alike = 0;
};

/// At most `most` lines. Checkpoints and fine-tunes of one shape share a line.
std::vector<RunnableLine> runnable_lines(const std::vector<RunnableRow>& rows, std::size_t most);
std::string runnable_list(const std::vector<RunnableLine>& lines, const Machine& machine);

}  // namespace headroom::sweep
