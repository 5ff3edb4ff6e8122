// Hurwitz's zeta function of one number, for what vector code leaves to assistants (assist.h).
#pragma once

namespace gradus::expr {

// Euler and Maclaurin's sum: so many terms by themselves, then B_2j / (2j)! times derivatives of
// the next one.
inline constexpr int kZetaTerms = 10;
inline constexpr double kZetaBernoulli[] = {1.0 / 12,
                                            -1.0 / 720,
                                            1.0 / 30240,
                                            -1.0 / 1209600,
                                            1.0 / 47900160,
                                            -691.0 / 1307674368000.0,
                                            1.0 / 74724249600.0,
                                            -3617.0 / 10670622842880000.0,
                                            43867.0 / 5109094217170944000.0};

// The order-th derivative in s of zeta(s, q), for s > 1 and q > 0; the function itself also for
// q < 0 if s is whole. NaN elsewhere.
double zeta_at(int order, double s, double q);

}  // namespace gradus::expr
