#include "sweep/options/machine_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "hardware/detect.hpp"
#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "hardware/text_file.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

MachineSpecification specification(const Options& options) {
  MachineSpecification spec;
  spec.count = static_cast<int>(std::min<Size>(options.whole("count", 1), 1 << 20));
  spec.gpu_memory = options.read("gpu-memory", parse_bytes);
  spec.gpu_bandwidth = options.read("gpu-bandwidth", parse_rate);
  spec.gpu_flops = options.read("gpu-tflops", parse_flops);
  spec.ram = options.read("ram", parse_bytes);
  spec.ram_bandwidth = options.read("ram-bandwidth", parse_rate);
  spec.host_bus = options.read("bus", parse_rate);
  spec.card_link = options.read("card-link", parse_rate);
  spec.disk = options.read("disk", parse_bytes);
  spec.disk_read = options.read("disk-read", parse_rate);
  return spec;
}

/// Puts the processors of --cpu into `host`, with a line that says so.
void change_processors(const Options& options, const Catalogue& catalogue, Host& host,
                       std::vector<std::string>& assumed) {
  try {
    const Sockets fresh = parse_sockets(options.text("cpu"), catalogue);
    const std::string name = host.name;
    exchange_processors(fresh, catalogue, host);
    assumed.push_back(fmt::format(
        "host {} with --cpu {}: {} cores, {:.4g} TFLOPS, RAM at {:.4g} GB/s", name, fresh.name(),
        host.cores, host.cpu_peak.value() / 1e12, host.ram_bandwidth.value() / 1e9));
  } catch (const UnknownName& e) {
    throw UsageError(fmt::format("{}; `headroom hardware list processors` lists all", e.what()));
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--cpu: {}", e.what()));
  }
}

/// Refuses a figure of the host that --`flag` cannot change on this machine.
void check_change(std::string_view flag, const Machine& machine, std::string_view host) {
  if (machine.host.boxes > 1)
    throw UsageError(
        fmt::format("--{} describes one box, and this machine is {} of {}: describe the host in "
                    "a file for --hardware",
                    flag, machine.host.boxes, host));
  const bool shared = machine.has_unified_memory();
  if (shared && flag == "cpu")
    throw UsageError(fmt::format("--cpu: the card and the CPU of {} are one chip", host));
  if (shared && flag.starts_with("ram"))
    throw UsageError(
        fmt::format("--{} has no effect: the card shares the memory of {}", flag, host));
}

/// Figures of the host that take the place of the catalogue's, each with a line that says so.
void change_host(const Options& options, const Catalogue& catalogue, GivenMachine& given) {
  Host& host = given.machine.host;
  const std::string name = host.name;
  if (options.given("cpu")) {
    check_change("cpu", given.machine, name);
    change_processors(options, catalogue, host, given.assumed);
    host.name += ", --cpu " + options.text("cpu");
    given.machine.ram_assumed = false;
  }
  const auto change = [&](std::string_view flag, auto& value, auto parse) {
    const auto stated = options.read(flag, parse);
    if (!stated) return;
    check_change(flag, given.machine, name);
    if (!(*stated > std::remove_reference_t<decltype(value)>()))
      throw UsageError(fmt::format("--{} is not above zero", flag));
    value = *stated;
    host.name += fmt::format(", --{} {}", flag, options.text(flag));
    given.assumed.push_back(fmt::format("host {} with --{} {}", name, flag, options.text(flag)));
  };
  change("ram", host.ram, parse_bytes);
  change("ram-bandwidth", host.ram_bandwidth, parse_rate);
  if (options.given("ram-bandwidth")) given.machine.ram_assumed = false;
  change("bus", host.host_bus, parse_rate);
  if (options.given("card-link") && given.machine.devices.size() < 2)
    throw UsageError("--card-link has no effect: the machine has no two cards");
  change("card-link", host.card_link, parse_rate);
  change("disk", host.disk, parse_bytes);
  change("disk-read", host.disk_read, parse_rate);
  given.machine.name = given.machine.canonical_name();
}

/// The processor that `text` names, "1x epyc-9654"; nothing where it names none.
std::optional<std::string> processor_named(std::string_view text, const Catalogue& catalogue) {
  try {
    return parse_sockets(text, catalogue).name();
  } catch (const std::runtime_error&) {
  } catch (const std::invalid_argument&) {
  }
  return std::nullopt;
}

/// Advice on what to type instead of a machine that nothing knows.
std::string what_to_type(const std::string& text, const Catalogue& catalogue) {
  if (const auto at = text.find('@'); at != std::string::npos)
    if (const auto host =
            processor_named(trimmed(std::string_view(text).substr(at + 1)), catalogue))
      return fmt::format("; a processor is no host: --machine {} --cpu \"{}\" --ram SIZE",
                         trimmed(std::string_view(text).substr(0, at)), *host);
  if (const auto processor = processor_named(text, catalogue))
    return fmt::format("; it is a processor: --cpu \"{}\" alone is a machine without cards",
                       *processor);
  if (text.find(',') != std::string::npos)
    return "; cards of one box are \"1x rtx-4090 + 1x rtx-3090\", and plan --machines compares "
           "boxes";
  if (text.find('/') != std::string::npos)
    return "; it looks like a model: headroom estimate MODEL --machine MACHINE";
  return "; `headroom hardware` lists all, --gpu-memory 24GB describes a card of your own";
}

enum class Memory { all, free };

/// This computer, and a line for each memory of which less is free now than there is.
GivenMachine local(const Catalogue& catalogue, Memory memory) {
  const Detection found = detect();
  GivenMachine given;
  given.machine = local_machine(found, catalogue, &given.assumed);
  if (memory == Memory::free) {
    const auto only = [&](const std::string& name, Bytes all, Bytes free) {
      if (free < all)
        given.assumed.push_back(
            fmt::format("free memory of {} now: {} of {}", name, to_text(free), to_text(all)));
      return std::min(free, all);
    };
    for (std::size_t i = 0; i < given.machine.devices.size() && i < found.cards.size(); ++i)
      if (found.cards[i].free)
        set_memory(given.machine.devices[i],
                   only(fmt::format("gpu {}", i), usable_memory(given.machine.devices[i]),
                        *found.cards[i].free));
    given.machine.host.ram = only("the RAM", given.machine.host.ram, found.ram_available);
    return given;
  }
  const auto busy = [&](const std::string& name, std::string_view flag, Bytes free, Bytes all) {
    if (free.real().value() < 0.95 * all.real().value())
      given.assumed.push_back(fmt::format(
          "all of {}, although only {} of {} is free now: --{} {:.0f}MiB uses only the free memory",
          name, to_text(free), to_text(all), flag, std::floor(free.real().value() / (1 << 20))));
  };
  given.free.emplace().ram = found.ram_available;
  for (const DetectedCard& card : found.cards) given.free->cards.push_back(card.free);
  for (std::size_t i = 0; i < found.cards.size(); ++i)
    if (const DetectedCard& card = found.cards[i]; card.free)
      busy(fmt::format("gpu {}", i), "gpu-budget", *card.free, card.memory);
  busy("the RAM", "ram-budget", found.ram_available, given.machine.host.ram);
  return given;
}

}  // namespace

std::shared_ptr<const Catalogue> catalogue_of(const std::vector<std::string>& files) {
  // The shipped rows are neither copied nor owned.
  if (files.empty()) return {std::shared_ptr<void>(), &shipped_catalogue()};
  Catalogue catalogue = shipped_catalogue();
  for (const auto& file : files)
    catalogue = overlay(std::move(catalogue),
                        read_text_file(file, "cards, processors or hosts in TOML"), file);
  return std::make_shared<const Catalogue>(std::move(catalogue));
}

namespace {

/// Refuses flags that exclude each other, and figures without the card or host that they describe.
void check_machine_flags(const Options& options, bool from_figures, bool named) {
  options.exclusive({"machine", "device", "gpu-memory"});
  options.exclusive({"machine", "host"});
  options.exclusive({"machine", "count"});
  for (const auto flag : figures_of_card)
    if (options.given(flag) && !from_figures)
      throw UsageError(
          fmt::format("--{} describes a card by its figures and needs --gpu-memory; a machine by "
                      "name has its own",
                      flag));
  for (const auto flag : figures_of_host)
    if (options.given(flag) && !from_figures && !named)
      throw UsageError(
          fmt::format("--{} describes a host: it needs --machine, --device, --host or --cpu, or "
                      "--gpu-memory",
                      flag));
  if (from_figures && options.given("host"))
    throw UsageError("--host has no effect with --gpu-memory; give --ram, --disk and the like");
  if (options.given("count") && !from_figures) options.requires_flag("count", "device");
}

/// The machine in words, from --machine or from --device, --count and --host.
std::string machine_text(const Options& options) {
  std::string text = options.text("machine");
  if (lower(options.text("device")) == "local") {
    if (options.given("count") || options.given("host"))
      throw UsageError("--device local means all of this computer: leave out --count and --host");
    text = "local";
  }
  if (text.empty()) {
    text = options.given("device")
               ? fmt::format("{}x {}", options.whole("count", 1), options.text("device"))
               : "cpu";
    if (options.given("host")) text += " @ " + options.text("host");
  }
  return text;
}

/// The machine of figures alone. The default host keeps what they do not give, but for --cpu.
GivenMachine machine_of_figures(const Options& options, const Catalogue& rows) {
  Catalogue catalogue = rows;
  GivenMachine given;
  if (options.given("cpu"))
    change_processors(options, catalogue,
                      *std::ranges::find(catalogue.hosts, catalogue.default_host, &Host::name),
                      given.assumed);
  try {
    given.machine = specified_machine(specification(options), catalogue, &given.assumed);
    if (options.given("cpu")) given.machine.ram_assumed = false;
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
  return given;
}

std::optional<GivenMachine> machine_as_given(const Options& options, Memory memory) {
  const bool from_figures = options.given("gpu-memory");
  constexpr std::string_view names[] = {"machine", "device", "host", "cpu"};
  const bool named = std::ranges::any_of(names, [&](auto flag) { return options.given(flag); });
  check_machine_flags(options, from_figures, named);
  if (!named && !from_figures) {
    if (options.given("hardware"))
      throw UsageError("--hardware has no effect without --machine or --device");
    return std::nullopt;
  }
  const auto held = catalogue_of(options.texts("hardware"));
  const Catalogue& catalogue = *held;
  if (from_figures) return machine_of_figures(options, catalogue);
  const std::string text = machine_text(options);
  if (lower(text) == "local") {
    for (const auto flag : figures_of_host)
      if (options.given(flag))
        throw UsageError(fmt::format("--{}: 'local' is this computer as it is", flag));
    return local(catalogue, memory);
  }
  GivenMachine given;
  try {
    given.machine = parse_machine(text, catalogue);
  } catch (const UnknownName& e) {
    throw UsageError(e.what() + what_to_type(text, catalogue));
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
  if (given.machine.host_for_cards)
    given.assumed.push_back(fmt::format(
        "{}, the usual host of {} (--machine \"{} @ HOST\" for another)", given.machine.host.name,
        counted(std::ssize(given.machine.devices), "card"), trimmed(text)));
  change_host(options, catalogue, given);
  return given;
}

}  // namespace

std::optional<GivenMachine> machine_of(const Options& options) {
  auto given = machine_as_given(options, Memory::all);
  if (given) given->asked = as_given(options, HEADROOM_MACHINE_FLAGS);
  return given;
}

std::optional<GivenMachine> free_machine_of(const Options& options) {
  return machine_as_given(options, Memory::free);
}

}  // namespace headroom::sweep
