// Reads the spec with toml++. Everything that is not understood is an error with its line.
#include "sweep/spec.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "hardware/names.hpp"
#include "sweep/number_axes.hpp"
#include "sweep/training/axes.hpp"

namespace headroom::sweep {

namespace {

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::string shown(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  std::string all = text.str();
  if (all.size() > 60) all.replace(57, std::string::npos, "…");
  return all;
}

class Reader {
 public:
  Reader(std::string_view text, std::string file) {
    spec_.file = std::move(file);
    spec_.text = text;
    spec_.name = std::filesystem::path(spec_.file).stem().string();
  }

  Spec read() {
    toml::table root;
    try {
      root = toml::parse(std::string_view(spec_.text), std::string_view(spec_.file));
    } catch (const toml::parse_error& e) {
      fail(static_cast<int>(e.source().begin.line), std::string(e.description()));
    }
    known_keys(root, "", {"run", "grid", "report", "prices"});
    run(root);
    prices(root);
    report(root);
    grids(root);
    return std::move(spec_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw SpecError(fmt::format("{}:{}: {}", spec_.file, line, what));
  }
  [[noreturn]] void fail(const toml::node& node, std::string_view key, std::string_view expected) {
    fail(line_of(node), fmt::format("key '{}': found {}, expected {}", key, shown(node), expected));
  }

  void known_keys(const toml::table& table, std::string_view where,
                  const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      fail(static_cast<int>(key.source().begin.line),
           fmt::format("unknown key '{}'{}; nearest: {}; allowed: {}", name, where,
                       fmt::join(nearest(name, known), ", "), fmt::join(known, ", ")));
    }
  }

  std::string text(const toml::node& node, std::string_view key) {
    const auto* value = node.as_string();
    if (!value || value->get().empty()) fail(node, key, "a text");
    return value->get();
  }

  void run(const toml::table& root) {
    if (const auto* node = root.get("run")) {
      const auto* table = node->as_table();
      if (!table) fail(*node, "run", "a table: [run]");
      known_keys(*table, " in [run]", {"name", "out", "hardware"});
      if (const auto* name = table->get("name")) {
        spec_.name = text(*name, "name");
        if (spec_.name.find('/') != std::string::npos || spec_.name.starts_with('.'))
          fail(*name, "name", "the name of a folder, without '/'");
      }
      if (const auto* out = table->get("out")) spec_.out = text(*out, "out");
      const auto folder = std::filesystem::path(spec_.file).parent_path();
      if (const auto* hardware = table->get("hardware"))
        for_each_value(*hardware, "hardware", [&](const toml::node& value) {
          spec_.hardware.push_back(folder / text(value, "hardware"));
        });
    }
    if (spec_.out.empty()) spec_.out = std::filesystem::path("out") / spec_.name;
  }

  void prices(const toml::table& root) {
    const auto* node = root.get("prices");
    if (!node) return;
    const auto* table = node->as_table();
    if (!table) fail(*node, "prices", "a table: [prices]");
    known_keys(*table, " in [prices]", {"file"});
    const auto* file = table->get("file");
    if (!file) fail(*node, "prices", "the file of your prices: file = \"prices.toml\"");
    spec_.prices = std::filesystem::path(spec_.file).parent_path() / text(*file, "file");
  }

  void report(const toml::table& root) {
    const auto* node = root.get("report");
    if (!node) return;
    const auto* table = node->as_table();
    if (!table) fail(*node, "report", "a table: [report]");
    known_keys(*table, " in [report]", {"plots"});
    if (const auto* plots = table->get("plots")) {
      if (!plots->is_boolean()) fail(*plots, "plots", "true or false");
      spec_.plots = plots->as_boolean()->get();
    }
  }

  /// A value, or each of a list that is not empty.
  template <class F>
  void for_each_value(const toml::node& node, std::string_view key, F&& visit) {
    const auto* list = node.as_array();
    if (!list) return visit(node);
    if (list->empty()) fail(node, key, "at least one value");
    for (const auto& value : *list) visit(value);
  }

  void grids(const toml::table& root) {
    const auto* node = root.get("grid");
    if (!node) fail(1, "no [[grid]]: a sweep needs at least one, with models and machines");
    const auto* list = node->as_array();
    if (!list || list->empty() || !list->is_array_of_tables())
      fail(line_of(*node), "key 'grid': expected [[grid]], one or more tables");
    for (const auto& grid : *list) spec_.grids.push_back(grid_of(*grid.as_table()));
  }

  GridSpec grid_of(const toml::table& table) {
    GridSpec grid;
    grid.line = line_of(table);
    if (const auto* task = table.get("task")) {
      const auto name = text(*task, "task");
      if (name != "inference" && name != "training")
        fail(*task, "task", "\"inference\" or \"training\"");
      if (name == "training") grid.task = model::Task::training;
    }
    auto known = axes_of(grid.task);
    known.insert(known.end(), {"task", "link", "exclude"});
    for (const auto& [key, node] : table) grid.lines[std::string(key.str())] = line_of(node);
    known_keys(table,
               grid.task == model::Task::training ? " in [[grid]] of training" : " in [[grid]]",
               known);

    names(table, "models", grid.models);
    names(table, "machines", grid.machines);
    names(table, "precisions", grid.precisions);
    names(table, "kv_precisions", grid.kv_precisions);
    names(table, "runtimes", grid.runtimes);
    if (grid.task == model::Task::training) {
      for (const TrainingAxis& axis : training_axes()) training_axis(table, axis, grid);
      return finished(table, std::move(grid));
    }
    for (const NumberAxis& axis : number_axes()) numbers(table, axis.key, grid.*axis.values);
    serving(table, grid);
    for (const ExtraAxis& axis : extra_axes) names(table, axis.key, grid.*axis.values);
    if (const auto* node = table.get("gpu_budgets"))
      for_each_value(*node, "gpu_budgets", [&](const toml::node& value) {
        checked(value, "gpu_budgets", [&] {
          if (const auto* zero = value.as_integer(); zero && zero->get() == 0)
            grid.gpu_budgets.push_back({});
          else
            grid.gpu_budgets.push_back(
                parse_budget(value.is_string() ? value.as_string()->get() : shown(value)));
        });
      });
    return finished(table, std::move(grid));
  }

  /// What grids of both tasks have.
  GridSpec finished(const toml::table& table, GridSpec grid) {
    for (const auto* needed : {"models", "machines"})
      if (!table.get(needed))
        fail(grid.line, fmt::format("[[grid]] has no '{}': it is needed", needed));
    if (const auto* node = table.get("exclude"))
      for_each_value(*node, "exclude", [&](const toml::node& value) {
        grid.exclude.push_back(text(value, "exclude"));
      });
    if (const auto* node = table.get("link")) link(*node, grid);
    not_below_median(grid, "prompt_tokens_p95", grid.prompt_tokens_p95, "prompt_tokens",
                     grid.prompt_tokens);
    not_below_median(grid, "output_tokens_p95", grid.output_tokens_p95, "output_tokens",
                     grid.output_tokens);
    all_distinct(grid);
    return grid;
  }

  /// Requests at once are the batch; lengths of requests mean nothing without them.
  void serving(const toml::table& table, GridSpec& grid) const {
    if (grid.concurrencies.empty()) {
      for (const auto* key : {"prompt_tokens_p95", "output_tokens_p95"})
        if (const auto* node = table.get(key))
          fail(line_of(*node),
               fmt::format("key '{}' has no effect without 'concurrencies': it is of requests to "
                           "an engine under load",
                           key));
      return;
    }
    if (const auto* node = table.get("batches"))
      fail(line_of(*node),
           "keys 'batches' and 'concurrencies' exclude each other: requests at once are the batch");
    grid.batches.clear();
  }

  /// Of every point that the grid makes of them.
  void not_below_median(const GridSpec& grid, std::string_view key, const std::vector<Size>& p95,
                        std::string_view of, const std::vector<Size>& medians) const {
    if (p95.empty()) return;
    const bool together = std::ranges::any_of(grid.link, [&](const auto& axes) {
      return std::ranges::find(axes, key) != axes.end() &&
             std::ranges::find(axes, of) != axes.end();
    });
    for (std::size_t i = 0; i < p95.size(); ++i) {
      const Size median = together ? medians[i] : *std::ranges::max_element(medians);
      if (p95[i] < median)
        fail(grid.lines.at(std::string(key)),
             fmt::format("key '{}': {} is less than the median, {} {}{}", key, p95[i], of, median,
                         together ? "" : "; 'link' them to pair each with its own"));
    }
  }

  /// The values of a training axis as texts; numbers are written out.
  void training_axis(const toml::table& table, const TrainingAxis& axis, GridSpec& grid) {
    const auto* node = table.get(axis.key);
    if (!node && axis.usual.empty()) return;
    auto& values = grid.training[std::string(axis.key)];
    if (!node) {
      values.emplace_back(axis.usual);
    } else if (axis.whole) {
      std::vector<Size> whole;
      numbers(table, axis.key, whole, axis.least);
      for (const Size n : whole) values.push_back(std::to_string(n));
    } else {
      names(table, axis.key, values);
    }
  }

  /// Runs `read`; what it complains of becomes an error at `node`.
  template <class F>
  void checked(const toml::node& node, std::string_view key, F&& read) const {
    try {
      read();
    } catch (const std::invalid_argument& e) {
      fail(line_of(node), fmt::format("key '{}': {}", key, e.what()));
    }
  }

  void names(const toml::table& table, std::string_view key, std::vector<std::string>& values) {
    const auto* node = table.get(key);
    if (!node) return;
    values.clear();
    for_each_value(*node, key,
                   [&](const toml::node& value) { values.push_back(text(value, key)); });
  }

  void numbers(const toml::table& table, std::string_view key, std::vector<Size>& values,
               Size least = 1) {
    const auto* node = table.get(key);
    if (!node) return;
    values.clear();
    for_each_value(*node, key, [&](const toml::node& value) {
      checked(value, key, [&] {
        const auto range = parse_range(value.is_string() ? value.as_string()->get() : shown(value));
        if (range.front() < least) fail(value, key, fmt::format("numbers from {}", least));
        values.insert(values.end(), range.begin(), range.end());
      });
    });
  }

  /// A value twice would be a point twice. Linked axes may repeat: what is paired differs.
  void all_distinct(const GridSpec& grid) const {
    const auto check = [&](std::string_view key, const auto& values) {
      for (const auto& axes : grid.link)
        if (std::ranges::find(axes, key) != axes.end()) return;
      std::set<typename std::decay_t<decltype(values)>::value_type> seen;
      for (const auto& value : values)
        if (!seen.insert(value).second)
          fail(grid.lines.at(std::string(key)),
               fmt::format("key '{}': '{}' is given twice", key, value));
    };
    for (const auto& [key, values] : grid.training) check(key, values);
    check("models", grid.models);
    check("machines", grid.machines);
    check("precisions", grid.precisions);
    check("kv_precisions", grid.kv_precisions);
    check("runtimes", grid.runtimes);
    for (const NumberAxis& axis : number_axes()) check(axis.key, grid.*axis.values);
    for (const ExtraAxis& axis : extra_axes) check(axis.key, grid.*axis.values);
  }

  void link(const toml::node& node, GridSpec& grid) {
    const auto* list = node.as_array();
    if (!list || list->empty()) fail(node, "link", "a list of axes, or a list of such lists");
    const bool nested = list->front().is_array();
    std::set<std::string> seen;
    auto one = [&](const toml::node& group) {
      const auto* axes = group.as_array();
      if (!axes || axes->size() < 2) fail(group, "link", "a list of at least two axes");
      std::vector<std::string> linked;
      for (const auto& axis : *axes) {
        linked.push_back(text(axis, "link"));
        const auto& name = linked.back();
        const auto& axes_known = axes_of(grid.task);
        if (std::ranges::find(axes_known, name) == axes_known.end())
          fail(line_of(axis), fmt::format("key 'link': unknown axis '{}'; nearest: {}", name,
                                          fmt::join(nearest(name, axes_known), ", ")));
        if (!grid.lines.contains(name))
          fail(line_of(axis), fmt::format("key 'link': axis '{}' has no values here", name));
        if (!seen.insert(name).second)
          fail(line_of(axis), fmt::format("key 'link': axis '{}' is linked twice", name));
        checked(axis, "link", [&] {
          if (grid.length(name) != grid.length(linked.front()))
            throw std::invalid_argument(fmt::format("'{}' has {} values and '{}' has {}",
                                                    linked.front(), grid.length(linked.front()),
                                                    name, grid.length(name)));
        });
      }
      grid.link.push_back(std::move(linked));
    };
    if (!nested) return one(node);
    for (const auto& group : *list) one(group);
  }

  Spec spec_;
};

}  // namespace

Spec parse_spec(std::string_view toml, std::string file) {
  return Reader(toml, std::move(file)).read();
}

}  // namespace headroom::sweep
