// Losses, optimizers, variables.
#include "agree/call.h"

namespace agree {
namespace {

namespace keras = gd::keras;
namespace each = gd::keras::per_sample;

keras::CrossentropyOptions crossentropy_of(const Call& c) {
  keras::CrossentropyOptions options{.from_logits = c.b("from_logits"),
                                     .label_smoothing = c.d("label_smoothing", 0)};
  if (c.has("axis")) options.axis = c.shape("axis");
  return options;
}

keras::FocalOptions focal_of(const Call& c) {
  return {.alpha = c.d("alpha", 0.25),
          .gamma = c.d("gamma", 2),
          .apply_class_balancing = c.b("apply_class_balancing"),
          .from_logits = c.b("from_logits"),
          .label_smoothing = c.d("label_smoothing", 0)};
}

keras::TverskyOptions tversky_of(const Call& c) {
  keras::TverskyOptions options{.alpha = c.d("alpha", 0.5), .beta = c.d("beta", 0.5)};
  if (c.has("axis")) options.axes = c.shape("axis");
  return options;
}

keras::CircleOptions circle_of(const Call& c) {
  return {.gamma = c.d("gamma", 80),
          .margin = c.d("margin", 0.4),
          .remove_diagonal = c.b("remove_diagonal", true)};
}

// A function of each sample, and its mean over the batch.
void add_means(Table& table) {
#define LOSS(name)                                    \
  table["keras.per_sample." #name] = two(each::name); \
  table["keras." #name] = two(keras::name)
  LOSS(mean_squared_error);
  LOSS(mean_absolute_error);
  LOSS(mean_absolute_percentage_error);
  LOSS(mean_squared_logarithmic_error);
  LOSS(log_cosh);
  LOSS(poisson);
  LOSS(hinge);
  LOSS(squared_hinge);
  LOSS(categorical_hinge);
  LOSS(kl_divergence);
#undef LOSS
#define LOSS(name, ...)                                                             \
  table["keras.per_sample." #name] =                                                \
      calls([](const Call& c) { return each::name(c.t(0), c.t(1), __VA_ARGS__); }); \
  table["keras." #name] =                                                           \
      calls([](const Call& c) { return keras::name(c.t(0), c.t(1), __VA_ARGS__); })
  LOSS(huber, c.d("delta", 1));
  LOSS(binary_crossentropy, crossentropy_of(c));
  LOSS(categorical_crossentropy, crossentropy_of(c));
  LOSS(binary_focal_crossentropy, focal_of(c));
  LOSS(categorical_focal_crossentropy, focal_of(c));
  LOSS(categorical_generalized_cross_entropy, c.d("q", 0.5));
  LOSS(tversky, tversky_of(c));
  LOSS(circle, circle_of(c));
#undef LOSS
}

void add_others(Table& table) {
  table["keras.cosine_similarity"] = two(keras::cosine_similarity);
  table["keras.per_sample.cosine_similarity"] = calls([](const Call& c) {
    return each::cosine_similarity(c.t(0), c.t(1), c.has("axis") ? c.shape("axis") : Shape{-1});
  });
  table["keras.dice"] = two(keras::dice);
  table["keras.per_sample.dice"] = calls([](const Call& c) {
    return c.has("axis") ? each::dice(c.t(0), c.t(1), c.shape("axis")) : each::dice(c.t(0), c.t(1));
  });
  table["keras.sparse_categorical_crossentropy"] = calls([](const Call& c) {
    return keras::sparse_categorical_crossentropy(c.t(0), c.t(1), c.b("from_logits"));
  });
  table["keras.per_sample.sparse_categorical_crossentropy"] = calls([](const Call& c) {
    return each::sparse_categorical_crossentropy(c.t(0), c.t(1), c.b("from_logits"),
                                                 c.small("axis", -1));
  });
  table["keras.ctc"] = calls(
      [](const Call& c) { return keras::ctc(c.t(0), c.t(1), c.t(2), c.t(3), c.i("blank", 0)); });
  table["keras.per_sample.ctc"] = calls(
      [](const Call& c) { return each::ctc(c.t(0), c.t(1), c.t(2), c.t(3), c.i("blank", 0)); });
}

std::unique_ptr<keras::Optimizer> optimizer_of(const Call& c) {
  const std::string name = c.s("name", "sgd");
  const double rate = c.d("rate", 0.1);
  const keras::OptimizerOptions options{.weight_decay = c.d("weight_decay", 0),
                                        .clipnorm = c.d("clipnorm", 0),
                                        .clipvalue = c.d("clipvalue", 0),
                                        .global_clipnorm = c.d("global_clipnorm", 0)};
  const gd::AdamSettings adam{.learning_rate = rate};
  if (name == "SGD")
    return std::make_unique<keras::SGD>(rate, c.d("momentum", 0), c.b("nesterov"), options);
  if (name == "Adagrad") return std::make_unique<keras::Adagrad>(rate, 0.1, 1e-7, options);
  if (name == "Adam") return std::make_unique<keras::Adam>(adam, options, c.b("amsgrad"));
  if (name == "AdamW")
    return std::make_unique<keras::AdamW>(keras::AdamWSettings{.learning_rate = rate});
  if (name == "Adamax") return std::make_unique<keras::Adamax>(adam, options);
  if (name == "Nadam") return std::make_unique<keras::Nadam>(adam, options);
  if (name == "RMSprop")
    return std::make_unique<keras::RMSprop>(
        keras::RMSpropSettings{
            .learning_rate = rate, .momentum = c.d("momentum", 0), .centered = c.b("centered")},
        options);
  if (name == "Adadelta") return std::make_unique<keras::Adadelta>(rate, 0.95, 1e-7, options);
  if (name == "Lion") return std::make_unique<keras::Lion>(rate, 0.9, 0.99, options);
  if (name == "Ftrl")
    return std::make_unique<keras::Ftrl>(keras::FtrlSettings{.learning_rate = rate}, options);
  if (name == "Lamb")
    return std::make_unique<keras::Lamb>(keras::LambSettings{.learning_rate = rate}, options);
  if (name == "Adafactor")
    return std::make_unique<keras::Adafactor>(keras::AdafactorSettings{.learning_rate = rate},
                                              options);
  if (name == "Muon")
    return std::make_unique<keras::Muon>(keras::MuonSettings{.learning_rate = rate});
  throw std::runtime_error("no optimizer " + name);
}

// Some steps from w, where the gradient is g times the number of the step.
Tensors optimized(const Call& c) {
  const gd::Variable w(c.t(0));
  const auto optimizer = optimizer_of(c);
  for (int step = 1; step <= c.small("steps", 3); ++step)
    optimizer->apply({gd::Gradient(c.t(1) * step)}, {w});
  return {w.value()};
}

// What a method of a variable leaves in it.
Tensors scattered(const Call& c) {
  const gd::Variable w(c.t(0));
  const std::string how = c.s("how", "add");
  if (how == "add") w.scatter_add(c.t(1), c.t(2));
  if (how == "sub") w.scatter_sub(c.t(1), c.t(2));
  if (how == "update") w.scatter_update(c.t(1), c.t(2));
  if (how == "mul") w.scatter_mul(c.t(1), c.t(2));
  if (how == "div") w.scatter_div(c.t(1), c.t(2));
  if (how == "max") w.scatter_max(c.t(1), c.t(2));
  if (how == "min") w.scatter_min(c.t(1), c.t(2));
  return {w.value()};
}

}  // namespace

void add_losses(Table& table) {
  add_means(table);
  add_others(table);
  table["optimizer"] = optimized;
  table["variable_scatter"] = scattered;
  table["global_norm"] = calls([](const Call& c) {
    const Tensors all = c.list(0);
    return gd::global_norm(std::vector<gd::Gradient>(all.begin(), all.end()));
  });
  table["clip_by_norm"] = calls([](const Call& c) {
    return gd::clip_by_norm(gd::Gradient(c.t(0)), c.d("clip_norm", 1)).tensor();
  });
  table["clip_by_global_norm"] = calls([](const Call& c) {
    const Tensors all = c.list(0);
    const auto [clipped, norm] = gd::clip_by_global_norm(
        std::vector<gd::Gradient>(all.begin(), all.end()), c.d("clip_norm", 1));
    Tensors results;
    for (const gd::Gradient& g : clipped) results.push_back(g.tensor());
    results.push_back(norm);
    return results;
  });
}

}  // namespace agree
