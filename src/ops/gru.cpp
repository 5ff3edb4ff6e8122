// A layer of gated recurrent units over whole sequences, with the reset gate after the product
// (Keras's reset_after): so the state's share of all gates is one product.
//
//   z = sigmoid(x Wz + h Uz), r = sigmoid(x Wr + h Ur), g = tanh(x Wh + r (h Uh))
//   h = z h + (1 - z) g
//
// As in lstm.cpp, everything that does not wait for the state is one product over all times.
// Gates are in Keras's order: z, r, g. A mask [b, t] may be given: where it is false, a step passes
// the state on.
#include <cstring>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/linalg.h"
#include "gradus/nn.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/gemm.h"
#include "kernels/reduce.h"
#include "kernels/scratch.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/recurrence.h"

namespace gradus {
namespace {

struct Sizes {
  std::int64_t batch, time, in, hidden, gates, element;
  Sizes(const View& x, const View& wh)
      : batch((*x.shape)[0]),
        time((*x.shape)[1]),
        in((*x.shape)[2]),
        hidden((*wh.shape)[0]),
        gates(3 * hidden),
        element(static_cast<std::int64_t>(size_of(x.dtype))) {}
};

// (x Wz, x Wr, x Wh, h Uz, h Ur, h Uh, h before) -> (z, r, g, h)
const GateKernel forward_gates(7, [](const GateKernel::Exprs& a) {
  const Expr z = expr::sigmoid(a[0] + a[3]), r = expr::sigmoid(a[1] + a[4]);
  const Expr g = expr::tanh(a[2] + r * a[5]);
  return GateKernel::Exprs{z, r, g, z * a[6] + (1 - z) * g};
});

// (z, r, g, h Uh, h before, dh here, dh from later) -> (dz, dr, dg, dg r, dh past the gates)
const GateKernel backward_gates(7, [](const GateKernel::Exprs& a) {
  const Expr z = a[0], r = a[1], g = a[2], dh = a[5] + a[6];
  const Expr dg = dh * (1 - z) * (1 - g * g);
  return GateKernel::Exprs{dh * (a[4] - g) * (z * (1 - z)), dg * a[3] * (r * (1 - r)), dg, dg * r,
                           dh * z};
});

// Inputs: x, wx, wh, bias, h0 (, mask). Outputs: all h, all gates, all h Uh.
void gru_kernel(const KernelCall& call) {
  const Sizes s(call.in[0], call.in[2]);
  const DType dtype = call.in[0].dtype;
  const std::int64_t e = s.element, row = s.hidden * e;
  const KeptRows kept(call.in, 5, s.batch, s.time);
  kernels::Scratch memory(static_cast<std::size_t>(s.batch * s.gates * e));
  char* recurrent = memory.as<char>();
  kernels::GemmArgs inputs;
  inputs.dtype = dtype;
  inputs.m = s.batch * s.time;
  inputs.n = inputs.ldb = inputs.ldc = s.gates;
  inputs.k = inputs.lda = s.in;
  inputs.a = call.in[0].data;
  inputs.b = call.in[1].data;
  inputs.c = call.out[1].data;
  inputs.bias = call.in[3].data;
  kernels::gemm(inputs);

  kernels::GemmArgs step;
  step.dtype = dtype;
  step.m = s.batch;
  step.n = step.ldb = step.ldc = s.gates;
  step.k = s.hidden;
  step.b = call.in[2].data;
  step.c = recurrent;
  step.bias = call.in[3].as<char>() + s.gates * e;
  const expr::Kernel& run = forward_gates[dtype];
  for (std::int64_t t = 0; t < s.time; ++t) {
    char* gates = call.out[1].as<char>() + t * s.gates * e;
    char* h = call.out[0].as<char>() + t * row;
    char* before = t ? h - row : call.in[4].as<char>();
    step.a = before;
    step.lda = t ? s.time * s.hidden : s.hidden;
    kernels::gemm(step);
    expr::LoopArgs args;
    args.rows = s.batch;
    args.cols = s.hidden;
    for (int k = 0; k < 3; ++k) {
      args.in[k] = args.out[k] = gates + k * row;
      args.in_row_bytes[k] = args.out_row_bytes[k] = s.time * s.gates * e;
      args.in[3 + k] = recurrent + k * row;
      args.in_row_bytes[3 + k] = s.gates * e;
    }
    args.in[6] = before;
    args.in_row_bytes[6] = step.lda * e;
    args.out[3] = h;
    args.out_row_bytes[3] = s.time * row;
    run(args);
    for (std::int64_t b = 0; b < s.batch; ++b) {
      std::memcpy(call.out[2].as<char>() + (b * s.time + t) * row,
                  recurrent + b * s.gates * e + 2 * row, static_cast<std::size_t>(row));
    }
    kept.each(t, [&](std::int64_t b) {
      std::memcpy(h + b * s.time * row, before + b * step.lda * e, static_cast<std::size_t>(row));
    });
  }
}

// Inputs: x, wx, wh, h0, all h, all gates, all h Uh, d(all h) (, mask).
// Outputs: d(the inputs' share of the gates), dwx, dwh, dbias, dh0.
void gru_gradient_kernel(const KernelCall& call) {
  const Sizes s(call.in[0], call.in[2]);
  const DType dtype = call.in[0].dtype;
  const std::int64_t e = s.element, row = s.hidden * e, rows = s.batch * s.time;
  const auto in = [&](int i) { return call.in[static_cast<std::size_t>(i)].as<char>(); };
  const KeptRows kept(call.in, 8, s.batch, s.time);
  kernels::Scratch states(static_cast<std::size_t>(rows * row));
  kernels::Scratch shares(static_cast<std::size_t>(rows * s.gates * e));
  kernels::Scratch passed(static_cast<std::size_t>(kept ? s.batch * row : 0));
  char *dx = call.out[0].as<char>(), *dr = shares.as<char>();  // the inputs' and the state's share
  char* dh = call.out[4].as<char>();                           // from later steps
  std::memset(dh, 0, static_cast<std::size_t>(s.batch * row));

  kernels::GemmArgs step;
  step.dtype = dtype;
  step.trans_b = step.accumulate = true;
  step.m = s.batch;
  step.n = step.ldc = s.hidden;
  step.k = step.ldb = s.gates;
  step.lda = s.time * s.gates;
  step.b = in(2);
  step.c = dh;
  const expr::Kernel& run = backward_gates[dtype];
  const auto gates_bytes = static_cast<std::size_t>(s.gates * e);
  for (std::int64_t t = s.time; t-- > 0;) {
    expr::LoopArgs args;
    args.rows = s.batch;
    args.cols = s.hidden;
    const auto operand = [&](int k, const char* at, std::int64_t step_bytes) {
      args.in[k] = at;
      args.in_row_bytes[k] = step_bytes;
    };
    const auto result = [&](int k, char* at, std::int64_t step_bytes) {
      args.out[k] = at;
      args.out_row_bytes[k] = step_bytes;
    };
    const std::int64_t here = t * s.gates * e, across = s.time * s.gates * e;
    for (int k = 0; k < 3; ++k) {
      operand(k, in(5) + here + k * row, across);
      result(k, dx + here + k * row, across);
    }
    operand(3, in(6) + t * row, s.time * row);
    operand(4, t ? in(4) + (t - 1) * row : in(3), t ? s.time * row : row);
    operand(5, in(7) + t * row, s.time * row);
    operand(6, dh, row);
    result(3, dr + here + 2 * row, across);
    result(4, dh, row);
    kept.each(t, [&](std::int64_t b) {
      add_row(dtype, in(7) + (b * s.time + t) * row, dh + b * row, passed.as<char>() + b * row,
              s.hidden);
    });
    run(args);
    for (std::int64_t b = 0; b < s.batch; ++b) {
      std::memcpy(dr + here + b * across, dx + here + b * across,
                  static_cast<std::size_t>(2 * row));
    }
    kept.each(t, [&](std::int64_t b) {
      std::memset(dx + here + b * across, 0, gates_bytes);
      std::memset(dr + here + b * across, 0, gates_bytes);
      std::memcpy(dh + b * row, passed.as<char>() + b * row, static_cast<std::size_t>(row));
    });
    step.a = dr + here;
    kernels::gemm(step);
  }

  states_before(in(3), in(4), s.batch, s.time, row, states.as<char>());
  const auto weights = [&](const void* a, std::int64_t width, const void* share, void* out) {
    kernels::GemmArgs g;
    g.dtype = dtype;
    g.trans_a = true;
    g.m = g.lda = width;
    g.n = g.ldb = g.ldc = s.gates;
    g.k = rows;
    g.a = a;
    g.b = share;
    g.c = out;
    kernels::gemm(g);
  };
  weights(in(0), s.in, dx, call.out[1].data);
  weights(states.data(), s.hidden, dr, call.out[2].data);
  const auto bias = [&](const void* share, std::int64_t k) {
    kernels::reduce_axis(kernels::Reduction::sum, dtype, share, 1, rows, s.gates,
                         call.out[3].as<char>() + k * s.gates * e);
  };
  bias(dx, 0);
  bias(dr, 1);
}

void infer_gru(const Call& c, Avals& out) {
  check_operand_count(c, 5);
  const Shape &x = c.shape(0), &wx = c.shape(1), &wh = c.shape(2), &b = c.shape(3);
  const bool ranks =
      x.rank() == 3 && wx.rank() == 2 && wh.rank() == 2 && b.rank() == 2 && c.shape(4).rank() == 2;
  const bool fits = ranks && wx[0] == x[2] && wx[1] == 3 * wh[0] && wh[1] == wx[1] && b[0] == 2 &&
                    b[1] == wx[1] && sizes_agree(c.shape(4)[0], x[0]) && c.shape(4)[1] == wh[0];
  if (!fits) {
    fail<InvalidArgumentError>("[gru] got x ", x, ", kernel ", wx, ", recurrent kernel ", wh,
                               ", bias ", b, " and state ", c.shape(4),
                               "; they must be [b, t, n], [n, 3h], [h, 3h], [2, 3h] and [b, h]");
  }
  check_mask(c, 5);
  const DType dtype = c.in[0].dtype;
  out.push_back({dtype, {x[0], x[1], wh[0]}});
  out.push_back({dtype, {x[0], x[1], wx[1]}});
  out.push_back({dtype, {x[0], x[1], wh[0]}});
}

Tensor part(const Tensor& all, std::int64_t k, Size hidden) {
  return slice(all, {0, k * hidden}, {-1, hidden});
}

// The same in single ops: what higher orders differentiate.
Tensors gru_body(const void*, std::span<const Tensor> in) {
  const std::int64_t time = in[0].shape()[1];
  const Size hidden = in[2].shape()[0];
  const auto bias = [&](std::int64_t k) {
    return reshape(slice(in[3], {k, 0}, {1, -1}), {in[3].shape()[1]});
  };
  const Tensor input_bias = bias(0), state_bias = bias(1);
  Tensor h = in[4];
  std::vector<Tensor> all_h, all_gates, all_shares;
  for (std::int64_t t = 0; t < time; ++t) {
    const Tensor x_t =
        reshape(slice(in[0], {0, t, 0}, {-1, 1, -1}), {in[0].shape()[0], in[0].shape()[2]});
    const Tensor x = matmul(x_t, in[1]) + input_bias, s = matmul(h, in[2]) + state_bias;
    const Tensor share = part(s, 2, hidden);
    const Tensor z = sigmoid(part(x, 0, hidden) + part(s, 0, hidden));
    const Tensor r = sigmoid(part(x, 1, hidden) + part(s, 1, hidden));
    const Tensor g = tanh(part(x, 2, hidden) + r * share);
    const Tensor next = z * h + (1 - z) * g;
    h = in.size() > 5 ? where(slice(in[5], {0, t}, {-1, 1}), next, h) : next;
    all_h.push_back(expand_dims(h, 1));
    all_gates.push_back(expand_dims(concat({z, r, g}, 1), 1));
    all_shares.push_back(expand_dims(share, 1));
  }
  return {concat(all_h, 1), concat(all_gates, 1), concat(all_shares, 1)};
}

// Of [b, t, ...] the step at t, as [b, ...].
Tensor at_time(const Tensor& all, std::int64_t t) {
  return reshape(slice(all, {0, t, 0}, {-1, 1, -1}), {all.shape()[0], all.shape()[2]});
}

// The gradient in single ops, as backward_gates has it.
Tensors gru_gradient_body(const void*, std::span<const Tensor> in) {
  const std::int64_t time = in[0].shape()[1];
  const Size hidden = in[2].shape()[0];
  Tensor later = zeros_like(in[3]), kernel = zeros_like(in[1]), recurrent = zeros_like(in[2]);
  std::vector<Tensor> all_dx(static_cast<std::size_t>(time)), all_dr = all_dx;
  for (std::int64_t t = time; t-- > 0;) {
    const Tensor gates = at_time(in[5], t), share = at_time(in[6], t);
    const Tensor z = part(gates, 0, hidden), r = part(gates, 1, hidden), g = part(gates, 2, hidden);
    const Tensor before = t ? at_time(in[4], t - 1) : in[3], dh = at_time(in[7], t) + later;
    const Tensor dg = dh * (1 - z) * (1 - g * g);
    const Tensor dz = dh * (before - g) * (z * (1 - z)), reset = dg * share * (r * (1 - r));
    Tensor dx = concat({dz, reset, dg}, 1), dr = concat({dz, reset, dg * r}, 1), kept = dh * z;
    if (in.size() > 8) {
      const Tensor mask = slice(in[8], {0, t}, {-1, 1});
      dx = where(mask, dx, zeros_like(dx));
      dr = where(mask, dr, zeros_like(dr));
      kept = where(mask, kept, dh);
    }
    later = kept + matmul(dr, in[2], {.transpose_b = true});
    kernel = kernel + matmul(at_time(in[0], t), dx, {.transpose_a = true});
    recurrent = recurrent + matmul(before, dr, {.transpose_a = true});
    all_dx[static_cast<std::size_t>(t)] = dx;
    all_dr[static_cast<std::size_t>(t)] = dr;
  }
  const Tensor dx = stack(all_dx, 1), dr = stack(all_dr, 1);
  return {dx, kernel, recurrent, stack({reduce_sum(dx, {0, 1}), reduce_sum(dr, {0, 1})}), later};
}

}  // namespace

const Op gru_gradient_op = composite(
    {.name = "gru_gradient",
     .doc = "What gru sends back to its gates, its weights and its first state.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = -1,
     .outputs = 5,
     .differentiable = 0xff,
     .infer =
         [](const Call& c, Avals& out) {
           check_operand_count(c, 8);
           const DType dtype = c.in[0].dtype;
           const Shape &x = c.shape(0), &wh = c.shape(2);
           if (x.rank() != 3 || wh.rank() != 2) {
             fail<InvalidArgumentError>("[gru_gradient] got x ", x, " and recurrent kernel ", wh,
                                        "; they must be [b, t, n] and [h, 3h]");
           }
           const std::int64_t h = wh[0], gates = 3 * h;
           check_operand_shape(c, 1, {x[2], gates});
           check_operand_shape(c, 2, {h, gates});
           check_operand_shape(c, 3, {x[0], h});
           for (int i : {4, 6, 7}) check_operand_shape(c, i, {x[0], x[1], h});
           check_operand_shape(c, 5, {x[0], x[1], gates});
           check_mask(c, 8);
           out.push_back({dtype, c.shape(5)});
           for (int i : {1, 2}) out.push_back({dtype, c.shape(i)});
           out.push_back({dtype, {2, gates}});
           out.push_back({dtype, c.shape(3)});
         },
     .kernel = gru_gradient_kernel,
     .batch = batch_loop,
     .samples =
         [] {
           const Sample plain{{{{2, 3, 4}},
                               {{4, 6}},
                               {{2, 6}},
                               {{2, 2}},
                               {{2, 3, 2}},
                               {{2, 3, 6}, 0.1, 0.9},
                               {{2, 3, 2}},
                               {{2, 3, 2}}},
                              nullptr};
           return std::vector<Sample>{plain, with_mask(plain)};
         }},
    gru_gradient_body);

const Op gru_op = composite(
    {.name = "gru",
     .doc = "Gated recurrent units over [batch, time, features]; gates z, r, h, reset after.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = -1,
     .outputs = 3,
     .differentiable = 31,
     .infer = infer_gru,
     .kernel = gru_kernel,
     .samples =
         [] {
           const Sample plain{{{{2, 3, 4}}, {{4, 6}, -1, 1}, {{2, 6}, -1, 1}, {{2, 6}}, {{2, 2}}},
                              nullptr};
           const Sample one{{{{1, 1, 2}}, {{2, 3}, -1, 1}, {{1, 3}, -1, 1}, {{2, 3}}, {{1, 1}}},
                            nullptr};
           return std::vector<Sample>{plain, one, with_mask(plain)};
         },
     .like = "keras.layers.GRU",
     .first_order_outputs = 1},
    gru_body,
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
       std::span<Cotangent> grads) {
      // Gates and shares are kept for this rule; nobody asks for their derivative.
      if (!cts[0].defined()) return;
      Tensors in{s.in[0], s.in[1], s.in[2], s.in[4], s.out[0], s.out[1], s.out[2], cts[0]};
      if (s.in.size() > 5) in.push_back(s.in[5]);
      Tensors all = gru_gradient_op.run(in, nullptr);
      if (wanted & 1) grads[0] = matmul(all[0], s.in[1], {.transpose_b = true});
      for (std::size_t i = 1; i < 5; ++i) grads[i] = all[i];
    });

namespace nn {

GruResult gru(In x, In kernel, In recurrent_kernel, In bias, In h0, const Tensor& mask) {
  Tensors in{x, kernel, recurrent_kernel, bias, h0};
  if (mask.defined()) in.push_back(mask);
  Tensors out = gru_op.run(in, nullptr);
  return {out[0], last_state(out[0], 1)};
}

}  // namespace nn
}  // namespace gradus
