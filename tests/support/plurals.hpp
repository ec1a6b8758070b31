// A count of one before a plural noun, in printed text: "1 rows".
#pragma once

#include <regex>
#include <string>

namespace headroom::test {

/// The first "1 rows" of `text`; empty: none. "1 to 4 cards", "0.1 days" and "x1 cards" are right.
inline std::string wrong_plural(const std::string& text) {
  // A line starts with it, or spaces, a bracket or a word are before it: not "512 + 1 tokens", and
  // not "2 × 1 values", whose sign ends with the byte 97.
  static const std::regex wrong(
      "(^|\\n|\\s\\s|[^+\x97\\s]\\s|[(~:>])"
      R"((1 (more |other |concurrent |measured |output |further )?)"
      R"((rows|cards|GPUs|layers|points|requests|models|machines|tokens|sequences|copies|steps|)"
      R"(passes|files|runs|sources|measurements|bytes|modules|images|heads|parts|stages|devices|)"
      R"(cores|ways|candidates|users|days|adapters|tensors|shards|columns|figures|engines|hosts|)"
      R"(processors|replicas|chunks|threads|problems|years|months|values|lines|patches|groups|)"
      R"(kernels|elements|sockets|boxes|spares))(?![\w/-]))");
  std::smatch found;
  return std::regex_search(text, found, wrong) ? found[2].str() : std::string();
}

}  // namespace headroom::test
