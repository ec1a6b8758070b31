#include "model/traffic.hpp"

#include <algorithm>

#include "model/placement.hpp"
#include "model/serving.hpp"
#include "model/speed.hpp"

namespace headroom::model {

Traffic traffic(const Scenario& asked) {
  Scenario s = asked;
  const auto holds = [&](Size batch) {
    s.batch = batch;
    return place(s, 1.0).feasible();
  };
  const Size running = holds(asked.batch) ? asked.batch : largest(asked.batch, holds);
  if (running == 0) return {};
  s.batch = running;
  const Plan plan = place(s, 1.0);
  Scenario one = s;
  one.batch = 1;
  const double prompt = prefill(one, plan, s.prompt_tokens).total;
  const Size stages = std::max<Size>(1, plan.stages);
  Scenario share = s;
  share.batch = (running + stages - 1) / stages;
  const double step = decode_step(share, plan, mean_tokens(s)).total;
  const double others = static_cast<double>(share.batch - 1);
  const double outputs = static_cast<double>(std::max<Size>(1, s.output_tokens));
  const double tpot = step + others / outputs * prompt;
  const double ttft =
      s.runtime->request_s.value + prompt * (1 + s.runtime->queue.value * others) + step;
  const double runs = ttft + (outputs - 1) * tpot;
  const double waits =
      static_cast<double>(asked.batch - running) / static_cast<double>(running) * runs;
  return {running, Seconds(waits + ttft), Seconds(tpot),
          static_cast<double>(running) * outputs / runs};
}

}  // namespace headroom::model
