#include "sweep/training/floor.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "model/infer/scenario/verdict.hpp"
#include "model/train/outcome.hpp"
#include "model/train/shape.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/training/answer.hpp"
#include "sweep/training/screen.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

/// True if cards, host or disk are too small for what is known already.
bool exceeds(const GivenTraining& given, const model::TrainingFloor& floor) {
  if (!given.machine) return false;
  const Machine& machine = *given.machine;
  const Size cards = given.scenario.parallel.cards();
  return cards > std::ssize(machine.devices) || floor.sum() > model::smallest_card(machine) ||
         cards * floor.host > model::ram_beside(machine, cards, floor.sum()) ||
         cards * floor.disk > machine.host.disk;
}

std::string headline(const GivenTraining& given, const TrainingFloorAnswer& answer) {
  const std::string needed = in_gib(answer.memory.sum());
  const std::string open = "what activations need is not known";
  if (!given.machine)
    return fmt::format("Needs more than {} GiB on the fullest card: {}", needed, open);
  const Size cards = given.scenario.parallel.cards();
  if (cards > std::ssize(given.machine->devices))
    return fmt::format("Does not fit: the step takes {} cards, and the machine has {}", cards,
                       given.machine->devices.size());
  const std::string of_card = fmt::format("more than {} of {} GiB on the fullest card", needed,
                                          in_gib(model::smallest_card(*given.machine)));
  if (!answer.exceeds_machine)
    return fmt::format("It is not known whether it fits: {}; {}", of_card, open);
  if (answer.memory.sum() > model::smallest_card(*given.machine))
    return fmt::format("Does not fit: {}, before activations", of_card);
  return fmt::format("Does not fit: the host needs more than {} of {} GiB, the disk {} of {} GiB",
                     in_gib(cards * answer.memory.host),
                     in_gib(model::ram_beside(*given.machine, cards, answer.memory.sum())),
                     in_gib(cards * answer.memory.disk), in_gib(given.machine->host.disk));
}

std::string memory_table(const model::TrainingFloor& floor) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, bytes] : {std::pair{"weights", floor.weights},
                                    {"master weights", floor.master},
                                    {"gradients", floor.gradients},
                                    {"optimizer states", floor.states}})
    if (bytes > Bytes(0)) rows.push_back({name, in_gib(bytes)});
  rows.push_back({"activations, logits, overheads", "not known"});
  rows.push_back({"at least", in_gib(floor.sum())});
  return aligned({"fullest card", "GiB"}, {false, true}, rows);
}

}  // namespace

TrainingFloorAnswer floor_of(const GivenTraining& given, const UndescribedStep& undescribed) {
  model::TrainingEvaluator evaluate;
  TrainingFloorAnswer answer{.memory = evaluate.floor(given.scenario),
                             .undescribed = undescribed.what()};
  answer.exceeds_machine = exceeds(given, answer.memory);
  return answer;
}

std::string floor_screen(const GivenTraining& given, const TrainingFloorAnswer& answer) {
  const model::TrainingFloor& floor = answer.memory;
  std::string text = training_title(given, floor.trained) + paragraph(headline(given, answer)) +
                     '\n' + memory_table(floor);
  text += off_card_lines(floor.host, floor.disk);
  text += '\n' + paragraph("Not known: " + answer.undescribed + '.');
  for (const auto& line : warnings_of(given)) text += paragraph("Warning: " + line + '.');
  return text + assumptions_line(given);
}

json::object object_of(const GivenTraining& given, const TrainingFloorAnswer& answer) {
  const model::TrainingFloor& floor = answer.memory;
  const model::TrainingScenario& s = given.scenario;
  const auto bytes = [](Bytes b) { return b.count(); };
  json::object all{{"model", given.model->name},
                   {"architecture", given.model->architecture},
                   {"task", "training"},
                   {"runtime", s.runtime->name},
                   {"recipe", s.recipe->name},
                   {"optimizer", s.optimizer->name()},
                   {"cards", s.parallel.cards()},
                   {"parameters", given.model->profile.parameters},
                   {"trained_parameters", floor.trained},
                   {"weights_bytes", bytes(floor.weights)},
                   {"master_weights_bytes", bytes(floor.master)},
                   {"gradients_bytes", bytes(floor.gradients)},
                   {"optimizer_bytes", bytes(floor.states)},
                   {"at_least_bytes", bytes(floor.sum())},
                   {"host_bytes", bytes(floor.host)},
                   {"disk_bytes", bytes(floor.disk)},
                   {"activations", nullptr},
                   {"not_described", answer.undescribed}};
  all["machine"] = given.machine ? json::value(given.machine->name) : json::value(nullptr);
  all["fits"] = answer.exceeds_machine ? json::value(false) : json::value(nullptr);
  all["assumptions"] = json::array();
  for (const auto& line : assumptions_of(given)) all["assumptions"].as_array().emplace_back(line);
  return all;
}

}  // namespace headroom::sweep
