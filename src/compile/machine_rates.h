// What this machine does at best on one thread, measured when first asked for.
#pragma once

namespace gradus {

struct MachineRates {
  double flops, bytes;  // per second
  double seconds(double work, double moved) const {
    const double compute = work / flops, memory = moved / bytes;
    return compute > memory ? compute : memory;
  }
};
const MachineRates& machine_rates();

}  // namespace gradus
