// The thresholds at which confusion metrics count.
#pragma once
#include <cstdint>
#include <vector>

namespace gradus::keras::metrics {

inline constexpr double kLowest = -1e10;  // a prediction that no threshold calls positive

void check_thresholds(const std::vector<double>& thresholds);  // all in [0, 1]
// Evenly from 0 to 1, the outermost moved outside by epsilon; the only one is 0.5.
std::vector<double> even_thresholds(std::int64_t count, double epsilon = 0);
bool are_even(const std::vector<double>& thresholds);  // at least three, evenly from 0 to 1

}  // namespace gradus::keras::metrics
