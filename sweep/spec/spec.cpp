// Reads the spec with toml++. Everything that is not understood is an error with its line.
#include "sweep/spec/spec.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "hardware/names.hpp"
#include "sweep/grid/axes.hpp"
#include "sweep/spec/spec_checks.hpp"

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

class SpecReader {
 public:
  SpecReader(std::string_view text, std::string file) {
    spec_.file = std::move(file);
    spec_.text = text;
    spec_.name = std::filesystem::path(spec_.file).stem().string();
  }

  Spec read() {
    toml::table root;
    try {
      root = toml::parse(std::string_view(spec_.text), std::string_view(spec_.file));
    } catch (const toml::parse_error& e) {
      fail(static_cast<int>(e.source().begin.line),
           std::string(e.description()) + "; expected a spec in TOML");
    }
    no_axes_in(root);
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

  void no_axes_in(const toml::table& root) const {
    for (const auto& [key, node] : root)
      for (const auto task : {model::Task::inference, model::Task::training})
        if (std::ranges::find(axes_of(task), key.str()) != axes_of(task).end())
          fail(static_cast<int>(key.source().begin.line),
               fmt::format("key '{}' belongs to a grid: write [[grid]] above it", key.str()));
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
      known_keys(*table, " in [run]", {"name", "out", "hardware", "engines"});
      if (const auto* name = table->get("name")) {
        spec_.name = text(*name, "name");
        if (spec_.name.find('/') != std::string::npos || spec_.name.starts_with('.'))
          fail(*name, "name", "the name of a folder, without '/'");
      }
      if (const auto* out = table->get("out")) spec_.out = text(*out, "out");
      const auto folder = std::filesystem::path(spec_.file).parent_path();
      if (const auto* engines = table->get("engines"))
        for_each_value(*engines, "engines", [&](const toml::node& value) {
          spec_.engines.push_back(folder / text(value, "engines"));
        });
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
    known_keys(*table, " in [report]", {"plots", "csv"});
    if (const auto* plots = table->get("plots")) {
      if (!plots->is_boolean()) fail(*plots, "plots", "true or false");
      spec_.plots = plots->as_boolean()->get();
    }
    if (const auto* csv = table->get("csv"))
      checked(*csv, "csv", [&] { spec_.csv = csv_file_named(text(*csv, "csv")); });
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

    for (const AxisForm& axis : axis_forms(grid.task)) read_axis(table, axis, grid);
    return finished(table, std::move(grid));
  }

  /// Keys of grids of both tasks.
  GridSpec finished(const toml::table& table, GridSpec grid) {
    for (const auto* needed : {"models", "machines"})
      if (!table.get(needed))
        fail(grid.line, fmt::format("[[grid]] has no '{}': it is needed", needed));
    if (const auto* node = table.get("exclude"))
      for_each_value(*node, "exclude", [&](const toml::node& value) {
        grid.exclude.push_back(text(value, "exclude"));
      });
    if (const auto* node = table.get("link")) link(*node, grid);
    check_grid(spec_, grid);
    return grid;
  }

  /// The values of an axis as texts; numbers are written out. The engine "auto" is none that is
  /// named.
  void read_axis(const toml::table& table, const AxisForm& axis, GridSpec& grid) {
    const auto* node = table.get(axis.key);
    if (!node && axis.usual.empty()) return;
    auto& values = grid.all_values[std::string(axis.key)];
    if (!node)
      values.emplace_back(axis.usual);
    else
      for_each_value(*node, axis.key, [&](const toml::node& value) {
        if (axis.values == AxisValues::names)
          values.push_back(text(value, axis.key));
        else
          read_quantity(value, axis, values);
      });
    if (axis.key == "runtimes" && values == std::vector<std::string>{"auto"}) {
      values = {std::string(axis.usual)};
      grid.lines.erase("runtimes");
    }
  }

  /// A whole number, a range of them, or a budget.
  void read_quantity(const toml::node& value, const AxisForm& axis,
                     std::vector<std::string>& values) {
    const std::string text = value.is_string() ? value.as_string()->get() : shown(value);
    checked(value, axis.key, [&] {
      if (axis.values == AxisValues::budgets) {
        parse_budgets(text);
        values.push_back(text);
        return;
      }
      const auto range = parse_range(text);
      if (range.front() < axis.least)
        fail(value, axis.key, fmt::format("numbers from {}", axis.least));
      for (const Size n : range) values.push_back(std::to_string(n));
    });
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
          if (name == "gpu_budgets")
            for (const BudgetRange& range : grid.gpu_budgets())
              if (!range.is_single())
                throw std::invalid_argument(
                    "linked gpu_budgets must be single budgets (8GiB, 50%, max), without ranges");
          const auto has = grid.values(name).size(), first = grid.values(linked.front()).size();
          if (has != first)
            throw std::invalid_argument(fmt::format("'{}' has {} values and '{}' has {}",
                                                    linked.front(), first, name, has));
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
  return SpecReader(toml, std::move(file)).read();
}

}  // namespace headroom::sweep
