#include <algorithm>

#include "sweep/program.hpp"

int main(int argc, char** argv) {
  return headroom::sweep::run_program({argv + 1, argv + std::max(argc, 1)});
}
