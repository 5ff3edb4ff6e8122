// A long short-term memory layer over whole sequences.
//
// The inputs' share of the gates is one product for all times; each step then adds the state's
// share and runs one fused gate kernel. Backwards the steps make the gates' gradients, and the
// gradients of the weights, of the inputs and of the bias are again single products and sums over
// all times. Gates are in Keras's order: input, forget, cell, output. Batches come first outside: x
// is [b, t, n] and h is [b, t, h]. Gates and cells, which stay inside, are [t, b, ...], so that
// what a step works on lies together: examples that are a whole sequence apart would share cache
// sets. A mask [b, t] may be given: where it is false, a step passes the states on.
#include <algorithm>
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
        gates(4 * hidden),
        element(static_cast<std::int64_t>(size_of(x.dtype))) {}
};

// (zi, zf, zg, zo, c before) -> (i, f, g, o, c, h, h again)
const GateKernel forward_gates(5, [](const GateKernel::Exprs& z) {
  const Expr i = expr::sigmoid(z[0]), f = expr::sigmoid(z[1]), g = expr::tanh(z[2]);
  const Expr o = expr::sigmoid(z[3]), c = f * z[4] + i * g, h = o * expr::tanh(c);
  return GateKernel::Exprs{i, f, g, o, c, h, h};
});

// (i, f, g, o, c, c before, dh here, dh from later, dc here, dc from later) ->
// (dzi, dzf, dzg, dzo, dc before)
const GateKernel backward_gates(10, [](const GateKernel::Exprs& a) {
  const Expr i = a[0], f = a[1], g = a[2], o = a[3], th = expr::tanh(a[4]);
  const Expr dh = a[6] + a[7], dc = a[8] + a[9] + dh * o * (1 - th * th);
  return GateKernel::Exprs{dc * g * (i * (1 - i)), dc * a[5] * (f * (1 - f)), dc * i * (1 - g * g),
                           dh * th * (o * (1 - o)), dc * f};
});

// [outer, inner, row] -> [inner, outer, row]
void swap_axes(const char* from, std::int64_t outer, std::int64_t inner, std::int64_t row,
               char* to) {
  for (std::int64_t i = 0; i < inner; ++i)
    for (std::int64_t o = 0; o < outer; ++o, to += row)
      std::memcpy(to, from + (o * inner + i) * row, static_cast<std::size_t>(row));
}

// Inputs: x, wx, wh, bias, h0, c0 (, mask). Outputs: all h, all gates, all c.
void lstm_kernel(const KernelCall& call) {
  const Sizes s(call.in[0], call.in[2]);
  const KeptRows kept(call.in, 6, s.batch, s.time);
  const DType dtype = call.in[0].dtype;
  const std::int64_t e = s.element, row = s.hidden * e, state = s.batch * row;
  const kernels::Scratch by_time(static_cast<std::size_t>(s.batch * s.time * s.in * e));
  swap_axes(call.in[0].as<char>(), s.batch, s.time, s.in * e, by_time.as<char>());
  kernels::GemmArgs inputs;
  inputs.dtype = dtype;
  inputs.m = s.batch * s.time;
  inputs.n = s.gates;
  inputs.k = s.in;
  inputs.a = by_time.data();
  inputs.lda = s.in;
  inputs.b = call.in[1].data;
  inputs.ldb = s.gates;
  inputs.c = call.out[1].data;
  inputs.ldc = s.gates;
  inputs.bias = call.in[3].data;
  kernels::gemm(inputs);

  const kernels::Scratch last_h(static_cast<std::size_t>(state));
  kernels::GemmArgs step;
  step.dtype = dtype;
  step.accumulate = true;
  step.m = s.batch;
  step.n = s.gates;
  step.k = s.hidden;
  step.a = call.in[4].data;
  step.lda = s.hidden;
  step.b = call.in[2].data;
  step.ldb = s.gates;
  step.ldc = s.gates;
  const expr::Kernel& run = forward_gates[dtype];
  expr::LoopArgs args;
  args.rows = s.batch;
  args.cols = s.hidden;
  for (std::int64_t t = 0; t < s.time; ++t) {
    char *z = call.out[1].as<char>() + t * s.batch * s.gates * e,
         *c = call.out[2].as<char>() + t * state;
    step.c = z;
    kernels::gemm(step);
    step.a = last_h.data();
    for (int k = 0; k < 4; ++k) {
      args.in[k] = args.out[k] = z + k * row;
      args.in_row_bytes[k] = args.out_row_bytes[k] = s.gates * e;
    }
    args.in[4] = t ? c - state : call.in[5].as<char>();
    args.out[4] = c;
    args.out[5] = call.out[0].as<char>() + t * row;
    args.out[6] = last_h.data();
    args.in_row_bytes[4] = args.out_row_bytes[4] = args.out_row_bytes[6] = row;
    args.out_row_bytes[5] = s.time * row;
    run(args);
    kept.each(t, [&](std::int64_t b) {
      char* h = call.out[0].as<char>() + (b * s.time + t) * row;
      const char* before = t ? h - row : call.in[4].as<char>() + b * row;
      const auto bytes = static_cast<std::size_t>(row);
      std::memcpy(h, before, bytes);
      std::memcpy(last_h.as<char>() + b * row, before, bytes);
      std::memcpy(c + b * row, static_cast<const char*>(args.in[4]) + b * row, bytes);
    });
  }
}

// Inputs: x, wx, wh, h0, c0, all h, all gates, all c, d(all h), d(all c) (, mask).
// Outputs: d(all gates before their functions), dwx, dwh, dbias, dh0, dc0.
void lstm_gradient_kernel(const KernelCall& call) {
  const Sizes s(call.in[0], call.in[2]);
  const DType dtype = call.in[0].dtype;
  const std::int64_t e = s.element, row = s.hidden * e, rows = s.batch * s.time;
  const std::int64_t state = s.batch * row;
  const auto in = [&](int i) { return call.in[static_cast<std::size_t>(i)].as<char>(); };
  const kernels::Scratch by_time(static_cast<std::size_t>(rows * std::max(s.hidden, s.in) * e));
  const KeptRows kept(call.in, 10, s.batch, s.time);
  const kernels::Scratch passed(static_cast<std::size_t>(kept ? 2 * state : 0));
  char *passed_h = passed.as<char>(), *passed_c = passed_h + state;
  char *dz = call.out[0].as<char>(), *before = by_time.as<char>();
  char *dh = call.out[4].as<char>(), *dc = call.out[5].as<char>();  // from later steps
  std::memset(dh, 0, static_cast<std::size_t>(state));
  std::memset(dc, 0, static_cast<std::size_t>(state));

  kernels::GemmArgs step;
  step.dtype = dtype;
  step.trans_b = true;
  step.m = s.batch;
  step.n = s.hidden;
  step.k = s.gates;
  step.lda = s.gates;
  step.b = in(2);
  step.ldb = s.gates;
  step.c = dh;
  step.ldc = s.hidden;
  const expr::Kernel& run = backward_gates[dtype];
  expr::LoopArgs args;
  args.rows = s.batch;
  args.cols = s.hidden;
  for (std::int64_t t = s.time; t-- > 0;) {
    const std::int64_t gates = t * s.batch * s.gates * e;
    for (int k = 0; k < 4; ++k) {
      args.in[k] = in(6) + gates + k * row;
      args.out[k] = dz + gates + k * row;
      args.in_row_bytes[k] = args.out_row_bytes[k] = s.gates * e;
    }
    args.in[4] = in(7) + t * state;
    args.in[5] = t ? in(7) + (t - 1) * state : in(4);
    args.in[6] = in(8) + t * row;
    args.in[7] = dh;
    args.in[8] = in(9) + t * state;
    args.in[9] = args.out[4] = dc;
    for (int k = 4; k < 10; ++k) args.in_row_bytes[k] = k == 6 ? s.time * row : row;
    args.out_row_bytes[4] = row;
    kept.each(t, [&](std::int64_t b) {
      add_row(dtype, in(8) + (b * s.time + t) * row, dh + b * row, passed_h + b * row, s.hidden);
      add_row(dtype, in(9) + t * state + b * row, dc + b * row, passed_c + b * row, s.hidden);
    });
    run(args);
    step.a = dz + gates;
    kept.each(t, [&](std::int64_t b) {
      std::memset(dz + gates + b * s.gates * e, 0, static_cast<std::size_t>(s.gates * e));
      std::memcpy(dc + b * row, passed_c + b * row, static_cast<std::size_t>(row));
    });
    kernels::gemm(step);
    kept.each(t, [&](std::int64_t b) {
      std::memcpy(dh + b * row, passed_h + b * row, static_cast<std::size_t>(row));
    });
  }

  const auto weights = [&](const void* a, std::int64_t width, void* out) {
    kernels::GemmArgs g;
    g.dtype = dtype;
    g.trans_a = true;
    g.m = width;
    g.n = s.gates;
    g.k = rows;
    g.a = a;
    g.lda = width;
    g.b = dz;
    g.ldb = s.gates;
    g.c = out;
    g.ldc = s.gates;
    kernels::gemm(g);
  };
  swap_axes(in(0), s.batch, s.time, s.in * e, by_time.as<char>());
  weights(by_time.data(), s.in, call.out[1].data);
  // The state before each step: h0, then all h but the last.
  if (s.time > 0) {
    std::memcpy(before, in(3), static_cast<std::size_t>(state));
    for (std::int64_t t = 1; t < s.time; ++t)
      for (std::int64_t b = 0; b < s.batch; ++b)
        std::memcpy(before + t * state + b * row, in(5) + (b * s.time + t - 1) * row,
                    static_cast<std::size_t>(row));
  }
  weights(before, s.hidden, call.out[2].data);
  kernels::reduce_axis(kernels::Reduction::sum, dtype, dz, 1, rows, s.gates, call.out[3].data);
}

void infer_lstm(const Call& c, Avals& out) {
  check_operand_count(c, 6);
  const Shape &x = c.shape(0), &wx = c.shape(1), &wh = c.shape(2), &b = c.shape(3);
  const bool ranks = x.rank() == 3 && wx.rank() == 2 && wh.rank() == 2 && b.rank() == 1 &&
                     c.shape(4).rank() == 2 && c.shape(5).rank() == 2;
  const bool fits = ranks && wx[0] == x[2] && wx[1] == 4 * wh[0] && wh[1] == wx[1] &&
                    b[0] == wx[1] && sizes_agree(c.shape(4)[0], x[0]) && c.shape(4)[1] == wh[0] &&
                    shapes_agree(c.shape(5), c.shape(4));
  if (!fits) {
    fail<InvalidArgumentError>(
        "[lstm] got x ", x, ", kernel ", wx, ", recurrent kernel ", wh, ", bias ", b, ", states ",
        c.shape(4), " and ", c.shape(5),
        "; they must be [b, t, n], [n, 4h], [h, 4h], [4h], [b, h] and [b, h]");
  }
  check_mask(c, 6);
  const DType dtype = c.in[0].dtype;
  out.push_back({dtype, {x[0], x[1], wh[0]}});
  out.push_back({dtype, {x[1], x[0], wx[1]}});
  out.push_back({dtype, {x[1], x[0], wh[0]}});
}

Tensor part(const Tensor& z, std::int64_t k, std::int64_t hidden) {
  return slice(z, {0, k * hidden}, {-1, hidden});
}

// The same in single ops: what higher orders differentiate.
Tensors lstm_body(const void*, std::span<const Tensor> in) {
  const std::int64_t time = in[0].shape()[1];
  const Size hidden = in[2].shape()[0];
  Tensor h = in[4], c = in[5];
  std::vector<Tensor> all_h, all_gates, all_c;
  for (std::int64_t t = 0; t < time; ++t) {
    const Tensor x =
        reshape(slice(in[0], {0, t, 0}, {-1, 1, -1}), {in[0].shape()[0], in[0].shape()[2]});
    const Tensor z = matmul(x, in[1]) + matmul(h, in[2]) + in[3];
    const Tensor i = sigmoid(part(z, 0, hidden)), f = sigmoid(part(z, 1, hidden));
    const Tensor g = tanh(part(z, 2, hidden)), o = sigmoid(part(z, 3, hidden));
    const Tensor next_c = f * c + i * g, next_h = o * tanh(next_c);
    const bool masked = in.size() > 6;
    const Tensor mask = masked ? slice(in[6], {0, t}, {-1, 1}) : Tensor();
    c = masked ? where(mask, next_c, c) : next_c;
    h = masked ? where(mask, next_h, h) : next_h;
    all_h.push_back(expand_dims(h, 1));
    all_c.push_back(expand_dims(c, 0));
    all_gates.push_back(expand_dims(concat({i, f, g, o}, 1), 0));
  }
  return {concat(all_h, 1), concat(all_gates, 0), concat(all_c, 0)};
}

// Of [t, b, ...] the step at t, as [b, ...].
Tensor at_time(const Tensor& all, std::int64_t t) {
  return reshape(slice(all, {t, 0, 0}, {1, -1, -1}), {all.shape()[1], all.shape()[2]});
}

// The gradient in single ops, as backward_gates has it.
Tensors lstm_gradient_body(const void*, std::span<const Tensor> in) {
  const std::int64_t time = in[0].shape()[1];
  const Size hidden = in[2].shape()[0];
  const Tensor x = transpose(in[0], {1, 0, 2}), h = transpose(in[5], {1, 0, 2});
  const Tensor dy = transpose(in[8], {1, 0, 2});
  Tensor later_h = zeros_like(in[3]), later_c = zeros_like(in[4]);
  Tensor kernel = zeros_like(in[1]), recurrent = zeros_like(in[2]);
  std::vector<Tensor> all_dz(static_cast<std::size_t>(time));
  for (std::int64_t t = time; t-- > 0;) {
    const Tensor z = at_time(in[6], t), th = tanh(at_time(in[7], t));
    const Tensor i = part(z, 0, hidden), f = part(z, 1, hidden), g = part(z, 2, hidden);
    const Tensor o = part(z, 3, hidden), c_before = t ? at_time(in[7], t - 1) : in[4];
    const Tensor dh = at_time(dy, t) + later_h, passed_c = at_time(in[9], t) + later_c;
    const Tensor dc = passed_c + dh * o * (1 - th * th);
    Tensor dz = concat({dc * g * (i * (1 - i)), dc * c_before * (f * (1 - f)), dc * i * (1 - g * g),
                        dh * th * (o * (1 - o))},
                       1);
    later_c = dc * f;
    const Tensor mask = in.size() > 10 ? slice(in[10], {0, t}, {-1, 1}) : Tensor();
    if (mask.defined()) {
      dz = where(mask, dz, zeros_like(dz));
      later_c = where(mask, later_c, passed_c);
    }
    const Tensor through = matmul(dz, in[2], {.transpose_b = true});
    later_h = mask.defined() ? where(mask, through, dh) : through;
    kernel = kernel + matmul(at_time(x, t), dz, {.transpose_a = true});
    recurrent = recurrent + matmul(t ? at_time(h, t - 1) : in[3], dz, {.transpose_a = true});
    all_dz[static_cast<std::size_t>(t)] = dz;
  }
  const Tensor dz = stack(all_dz, 0);
  return {dz, kernel, recurrent, reduce_sum(dz, {0, 1}), later_h, later_c};
}

}  // namespace

const Op lstm_gradient_op = composite(
    {.name = "lstm_gradient",
     .doc = "What lstm sends back to its gates, its weights and its first states.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = -1,
     .outputs = 6,
     .differentiable = 0x3ff,
     .infer =
         [](const Call& c, Avals& out) {
           check_operand_count(c, 10);
           const DType dtype = c.in[0].dtype;
           const Shape &x = c.shape(0), &wh = c.shape(2);
           if (x.rank() != 3 || wh.rank() != 2) {
             fail<InvalidArgumentError>("[lstm_gradient] got x ", x, " and recurrent kernel ", wh,
                                        "; they must be [b, t, n] and [h, 4h]");
           }
           const std::int64_t h = wh[0], gates = 4 * h;
           check_operand_shape(c, 1, {x[2], gates});
           check_operand_shape(c, 2, {h, gates});
           for (int i : {3, 4}) check_operand_shape(c, i, {x[0], h});
           for (int i : {5, 8}) check_operand_shape(c, i, {x[0], x[1], h});
           for (int i : {7, 9}) check_operand_shape(c, i, {x[1], x[0], h});
           check_operand_shape(c, 6, {x[1], x[0], gates});
           check_mask(c, 10);
           out.push_back({dtype, c.shape(6)});
           for (int i : {1, 2}) out.push_back({dtype, c.shape(i)});
           out.push_back({dtype, {c.shape(1)[1]}});
           out.push_back({dtype, c.shape(3)});
           out.push_back({dtype, c.shape(4)});
         },
     .kernel = lstm_gradient_kernel,
     .batch = batch_loop,
     .samples =
         [] {
           Sample plain{{{{2, 3, 4}},
                         {{4, 8}},
                         {{2, 8}},
                         {{2, 2}},
                         {{2, 2}},
                         {{2, 3, 2}},
                         {{3, 2, 8}, 0.1, 0.9},
                         {{3, 2, 2}},
                         {{2, 3, 2}},
                         {{3, 2, 2}}},
                        nullptr};
           return std::vector<Sample>{plain, with_mask(plain)};
         }},
    lstm_gradient_body);

const Op lstm_op = composite(
    {.name = "lstm",
     .doc = "A long short-term memory layer over [batch, time, features]; gates i, f, c, o.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = -1,
     .outputs = 3,
     .differentiable = 63,
     .infer = infer_lstm,
     .kernel = lstm_kernel,
     .samples =
         [] {
           const Sample plain{
               {{{2, 3, 4}}, {{4, 8}, -1, 1}, {{2, 8}, -1, 1}, {{8}}, {{2, 2}}, {{2, 2}}}, nullptr};
           const Sample one{
               {{{1, 1, 2}}, {{2, 4}, -1, 1}, {{1, 4}, -1, 1}, {{4}}, {{1, 1}}, {{1, 1}}}, nullptr};
           return std::vector<Sample>{plain, one, with_mask(plain)};
         },
     .like = "keras.layers.LSTM",
     .first_order_outputs = 5},
    lstm_body,
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
       std::span<Cotangent> grads) {
      const auto or_zeros = [&](const Tensor& ct, const Tensor& like) {
        return ct.defined() ? ct : zeros(like.shape(), like.dtype());
      };
      // The gates are kept for this rule; nobody asks for their derivative.
      Tensors in{s.in[0],
                 s.in[1],
                 s.in[2],
                 s.in[4],
                 s.in[5],
                 s.out[0],
                 s.out[1],
                 s.out[2],
                 or_zeros(cts[0], s.out[0]),
                 or_zeros(cts[2], s.out[2])};
      if (s.in.size() > 6) in.push_back(s.in[6]);
      Tensors all = lstm_gradient_op.run(in, nullptr);
      if (wanted & 1)
        grads[0] = transpose(matmul(all[0], s.in[1], {.transpose_b = true}), {1, 0, 2});
      for (std::size_t i = 1; i < 6; ++i) grads[i] = all[i];
    });

namespace nn {

LstmResult lstm(In x, In kernel, In recurrent_kernel, In bias, In h0, In c0, const Tensor& mask) {
  Tensors in{x, kernel, recurrent_kernel, bias, h0, c0};
  if (mask.defined()) in.push_back(mask);
  Tensors out = lstm_op.run(in, nullptr);
  return {out[0], last_state(out[0], 1), last_state(out[2], 0)};
}

}  // namespace nn
}  // namespace gradus
