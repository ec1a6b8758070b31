#include "sweep/screen/model_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "sweep/options/options.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/sources/nearest_models.hpp"

namespace headroom::sweep {
namespace {

bool has_all(std::string_view text, const std::vector<std::string>& words) {
  const std::string plain = lower(text);
  return std::ranges::all_of(words, [&](const auto& word) { return contains(plain, lower(word)); });
}

/// "30.5 B, 3.34 B active".
std::string parameter_words(const model::Model& m) {
  const model::Profile& profile = m.profile;
  std::string text = size_words(m);
  if (profile.parameters_active != profile.parameters)
    text += fmt::format(", {} B active",
                        three_digits(static_cast<double>(profile.parameters_active) / 1e9));
  return text;
}

}  // namespace

std::vector<LookedUp> look_up_all(const std::vector<std::string>& names, const Hub& hub) {
  std::vector<LookedUp> all;
  for (Resolved& each : resolve_models(names, hub)) try {
      all.push_back({names[all.size()], std::move(each.model), {}});
      if (each.failure) std::rethrow_exception(each.failure);
    } catch (const std::exception& e) {
      all.back().problem = e.what();
    }
  return all;
}

ModelList listed_models(const std::vector<std::string>& words, const Hub& hub) {
  ModelList list{look_up_all(catalogue_models(Need::counts), hub), {}};
  std::erase_if(list.models, [&](const LookedUp& each) {
    return !has_all(each.name + ' ' + (each.model ? each.model->architecture : ""), words);
  });
  for (const ShortName& row : short_names())
    if (has_all(row.name, words)) list.short_names.push_back(row);
  if (list.models.empty() && list.short_names.empty())
    throw UsageError(fmt::format(
        "no model of the catalogue has '{}' in its name or class; nearest: {}. Every command also "
        "takes a name of the hub, a folder or a file (actions of models: list, show, lint)",
        fmt::join(words, " "), fmt::join(nearest_models(words.front()), ", ")));
  return list;
}

report::Table model_table(const ModelList& list) {
  report::Table table{{"model", "architecture", "parameters", "checkpoint_precision", "source"},
                      {}};
  for (const LookedUp& each : list.models) {
    if (each.model)
      table.rows.push_back({each.name, each.model->architecture, each.model->profile.parameters,
                            each.model->checkpoint_scheme, each.model->source});
    else
      table.rows.push_back({each.name, {}, {}, {}, each.problem});
  }
  for (const ShortName& row : list.short_names)
    table.rows.push_back(
        {std::string(row.name), {}, {}, {}, "short for " + std::string(row.model)});
  return table;
}

std::string model_lines(const ModelList& list, ListLength shown, std::string_view asked) {
  std::vector<std::vector<std::string>> rows;
  for (const LookedUp& each : list.models)
    rows.push_back(
        each.model
            ? std::vector<std::string>{each.name, parameter_words(*each.model),
                                       each.model->checkpoint_scheme, each.model->architecture}
            : std::vector<std::string>{each.name, "", "", "counted alone, by headroom params"});
  std::string text;
  if (!rows.empty())
    text = list_text({{"model", false, ScreenColumn::always, {}},
                      {"parameters", false, ScreenColumn::always, {}},
                      {"precision", false, 2, {}},
                      {"class", false, 1, {}}},
                     rows, shown, fmt::format("… and {{}} more: headroom models list {}", asked));
  if (list.short_names.empty() || (shown == ListLength::few && rows.size() >= screen_rows))
    return text;
  if (!text.empty()) text += '\n';
  std::vector<std::vector<std::string>> names;
  for (const ShortName& row : list.short_names)
    names.push_back({std::string(row.name), "short for " + std::string(row.model)});
  const ListLength rest = rows.size() + names.size() > screen_rows ? shown : ListLength::all;
  if (rest == ListLength::few) names.resize(std::min(names.size(), screen_rows - rows.size()));
  return text + screen_table({{"name", false, ScreenColumn::always, {}},
                              {"", false, ScreenColumn::always, {}}},
                             names);
}

std::string model_overview() {
  std::map<std::string, std::vector<std::string>> by_maker;
  const auto all = catalogue_models();
  for (const std::string& name : all) {
    const auto slash = name.find('/');
    by_maker[slash == std::string::npos ? "" : name.substr(0, slash)].push_back(
        name.substr(slash + 1));
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> makers(by_maker.begin(),
                                                                       by_maker.end());
  std::ranges::stable_sort(makers, std::greater{},
                           [](const auto& each) { return each.second.size(); });
  constexpr std::size_t most = 20;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [maker, names] : makers) {
    if (rows.size() == most) break;
    std::string examples;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      const std::string longer = examples + (examples.empty() ? "" : ", ") + *name;
      if (text_width(longer) > 60) continue;
      examples = longer;
    }
    rows.push_back({maker, fmt::format("{}", names.size()), examples});
  }
  std::string text = fmt::format("{} models travel with the program:\n\n", all.size()) +
                     screen_table({{"maker", false, ScreenColumn::always, {}},
                                   {"models", true, ScreenColumn::always, {}},
                                   {"such as", false, 1, {}}},
                                  rows);
  if (makers.size() > most) text += fmt::format("… and {} further makers\n", makers.size() - most);
  return text +
         "\nSearch: headroom models qwen3. All: headroom models list. Every command also takes a "
         "name of\n  the hub, a folder or a file. --details, --format csv: sources.\n";
}

}  // namespace headroom::sweep
