// Keys of training tools' files, one table a tool.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::sweep {

/// One key that --from reads. `flag`: what it becomes; empty: a rule reads it (import_*.cpp).
/// `values`: "written=flag's value" apart by spaces, "*" for any other; "=" alone leaves the flag
/// out, "=?" is refused; empty: as written. A flag that is a switch takes "on".
struct Key {
  std::string_view key, flag, values{};
  std::string_view instead{};  ///< for what is refused: what would work
};

/// `uncounted`: further keys of the tool's own classes. "a.*" stands for every key below a.
struct KeyTable {
  std::string_view tool;
  std::span<const Key> rows;
  std::string_view uncounted;
};
extern const KeyTable trainer_keys, deepspeed_keys, llama_factory_keys, accelerate_keys,
    axolotl_keys;

/// Names of optimizers in the Trainer, DeepSpeed and bitsandbytes.
inline constexpr std::string_view optimizer_values =
    "adamw_torch=adamw-foreach adamw_torch_fused=adamw adamw_hf=adamw adamw_bnb_8bit=adamw-8bit "
    "adamw_8bit=adamw-8bit paged_adamw_8bit=paged-adamw-8bit paged_adamw_32bit=paged-adamw "
    "adafactor=adafactor sgd=sgd lion_32bit=lion-32bit adagrad=adagrad rmsprop=rmsprop Adam=adamw "
    "AdamW=adamw FusedAdam=adamw DeepSpeedCPUAdam=adamw Lion=lion Lamb=lamb Adagrad=adagrad *";

/// The row of `key` in the tables of the tools that a file of `table` may mix; null: none.
const Key* row_of(const KeyTable& table, std::string_view key);
bool is_known_key(const KeyTable& table, std::string_view key);
std::vector<std::string> known_keys(const KeyTable& table);

/// True if the key changes no memory: paths, rates, logs.
bool is_harmless(std::string_view key);

}  // namespace headroom::sweep
