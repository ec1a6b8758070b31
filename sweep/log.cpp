#include "sweep/log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/json.hpp>
#include <ctime>

#include "hardware/text.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {

std::string log_line(std::string_view event, std::string_view message,
                     const boost::json::object& facts) {
  boost::json::object line{
      {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"event", event},
      {"message", message}};
  for (const auto& [key, value] : facts) line[key] = value;
  return boost::json::serialize(line);
}

Log::Log(const Options& options) {
  constexpr std::string_view formats[] = {"text", "json"};
  json_ = options.one_of("log-format", formats, "text") == "json";
}

void Log::say(std::string_view event, std::string_view message,
              const boost::json::object& facts) const {
  if (json_)
    fmt::print(stderr, "{}\n", log_line(event, message, facts));
  else
    fmt::print(stderr, "{}{}\n", event == "note" ? "note: " : "", without_controls(message));
}

void Log::summary(std::string_view event, std::string_view message,
                  const boost::json::object& facts) const {
  fmt::print("{}", json_ ? log_line(event, message, facts) + '\n'
                         : wrapped(without_controls(message), 0, 2));
}

}  // namespace headroom::sweep
