#include "model/traffic.hpp"

#include <algorithm>

#include "model/placement.hpp"
#include "model/speed.hpp"

namespace headroom::model {

Traffic traffic(const Scenario& s) {
  const Plan plan = place(s, 1.0);
  Scenario one = s;
  one.batch = 1;
  const double prompt = prefill(one, plan, s.prompt_tokens).total;
  const double step = decode_step(s, plan, mean_tokens(s)).total;
  const double others = static_cast<double>(s.batch - 1);
  const double outputs = static_cast<double>(std::max<Size>(1, s.output_tokens));
  const double tpot = step + others / outputs * prompt;
  const double ttft = prompt * (1 + s.runtime->queue.value * others) + step;
  return {Seconds(ttft), Seconds(tpot),
          static_cast<double>(s.batch) * outputs / (ttft + (outputs - 1) * tpot)};
}

}  // namespace headroom::model
