// headroom place: where each layer goes.
#include "sweep/place/place.hpp"

#include "sweep/commands/command.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/scenario_options.hpp"
#include "sweep/sources/custom_model.hpp"

namespace headroom::sweep {
namespace {

int run_place(const Options& options) {
  return options.given("max-memory") ? place_by_map(options) : place_by_strategy(options);
}

}  // namespace

const Command place_command = {
    {.name = "place",
     .summary = "show where each layer goes: device maps, strategies, the best placement",
     .operands = "MODEL",
     .flags = HEADROOM_SCENARIO_FLAGS " " HEADROOM_CUSTOM_FLAGS " " HEADROOM_MACHINE_FLAGS
                                      " max-memory strategy offload-folder " HEADROOM_MAPPER_FLAGS
                                      " details format out",
     .examples =
         "headroom place facebook/opt-30b --max-memory 0=6GiB --max-memory cpu=25GiB\n"
         "headroom place llama2-7b --dtype float16 --policy balanced --max-memory 0=8GB "
         "--max-memory 1=8GB --max-memory cpu=30GB --format json\n"
         "headroom place facebook/opt-30b --gpu-memory 8GB --ram 32GB "
         "--disk 500GB\n"
         "headroom place Qwen/Qwen3-32B --machine '2x a100-sxm-40gb @ dual-epyc-120gb' --strategy "
         "best --json\n"
         "headroom place Llama-3.3-70B-Instruct --machine '2x rtx-4090' --precision q4_K_M "
         "--runtime "
         "llama.cpp\n"
         "headroom place Qwen/Qwen3-32B --machine '4x a100-sxm-40gb' --runtime vllm --context 8192",
     .columns =
         "device_map: module path to GPU number, cpu or disk (json: as from_pretrained takes it)\n"
         "max_memory: bytes of weights and buffers that each device may use, after balancing\n"
         "bytes: weights and buffers on it\nlayers: layers entirely on it\n"
         "on a machine, for each strategy: feasible or what it needs, budgets, layers and bytes "
         "on\n"
         "each device, load_s, ttft_s, tpot_s, tokens_s, class; json has the four columns above "
         "for the\n"
         "recommended or requested strategy, and all strategies in `strategies`; if the\n"
         "engine computes on the CPU too, `contexts`: the most --gpu-layers by context, and the "
         "least\n"
         "--n-cpu-moe; if it splits matrices, `splits`: tensor, pipeline and expert parallel "
         "sizes\n"
         "with the room of each for the cache",
     .exit_codes =
         "0 done\n1 failed: a file, a config or an output that cannot be read or written\n"
         "2 usage: an option or a name that is not understood\n"
         "3 accelerate itself fails on this model and these budgets, or no strategy runs"},
    run_place};

}  // namespace headroom::sweep
