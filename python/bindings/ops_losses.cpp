// Python's losses: one value for each sample, each by one call of gradus/losses.h. Targets and
// predictions come with equal ranks.
#include "gradus/losses.h"

#include "function.h"

namespace gradus::python {
namespace {

namespace each = keras::per_sample;

template <class F>
PyObject* of_both(const Arguments& a, const F& loss) {
  const Tensor targets = a.tensor(0), predictions = a.tensor(1);
  return wrap(on_large(predictions, [&] { return loss(targets, predictions); }));
}
template <Tensor (*loss)(In, In)>
PyObject* plain(const Arguments& a) {
  return of_both(a, loss);
}

std::optional<Shape> axes_of(const Arguments& a, int i) {
  return a.is_none(i) ? std::nullopt : std::optional(a.shape(i));
}

template <Tensor (*loss)(In, In, const keras::CrossentropyOptions&)>
PyObject* cross_entropy(const Arguments& a) {
  const keras::CrossentropyOptions options{
      .from_logits = a.boolean(2), .label_smoothing = a.real(3), .axis = a.shape(4)};
  return of_both(a, [&](In t, In p) { return loss(t, p, options); });
}

template <Tensor (*loss)(In, In, const keras::FocalOptions&)>
PyObject* focal(const Arguments& a) {
  const keras::FocalOptions options{.alpha = a.real(2),
                                    .gamma = a.real(3),
                                    .apply_class_balancing = a.boolean(7),
                                    .from_logits = a.boolean(4),
                                    .label_smoothing = a.real(5),
                                    .axis = a.shape(6)};
  return of_both(a, [&](In t, In p) { return loss(t, p, options); });
}

constexpr const char* kBoth = "y_true, y_pred";
constexpr const char* kCrossEntropy = "y_true, y_pred, from_logits, label_smoothing, axis";
constexpr const char* kFocal =
    "y_true, y_pred, alpha, gamma, from_logits, label_smoothing, axis, class_balancing=False";

const FunctionEntry entries[] = {
    {"_set_epsilon", "value", "Sets the small number that keeps logarithms finite.",
     [](const Arguments& a) -> PyObject* {
       keras::set_epsilon(a.real(0));
       Py_RETURN_NONE;
     }},
    {"_mean_squared_error", kBoth, "", plain<each::mean_squared_error>},
    {"_mean_absolute_error", kBoth, "", plain<each::mean_absolute_error>},
    {"_mean_absolute_percentage_error", kBoth, "", plain<each::mean_absolute_percentage_error>},
    {"_mean_squared_logarithmic_error", kBoth, "", plain<each::mean_squared_logarithmic_error>},
    {"_log_cosh", kBoth, "", plain<each::log_cosh>},
    {"_poisson", kBoth, "", plain<each::poisson>},
    {"_hinge", kBoth, "", plain<each::hinge>},
    {"_squared_hinge", kBoth, "", plain<each::squared_hinge>},
    {"_categorical_hinge", kBoth, "", plain<each::categorical_hinge>},
    {"_kl_divergence", kBoth, "", plain<each::kl_divergence>},
    {"_huber", "y_true, y_pred, delta", "",
     [](const Arguments& a) {
       return of_both(a, [delta = a.real(2)](In t, In p) { return each::huber(t, p, delta); });
     }},
    {"_cosine_similarity", "y_true, y_pred, axis", "",
     [](const Arguments& a) {
       return of_both(
           a, [axes = a.shape(2)](In t, In p) { return each::cosine_similarity(t, p, axes); });
     }},
    {"_binary_crossentropy", kCrossEntropy, "", cross_entropy<each::binary_crossentropy>},
    {"_categorical_crossentropy", kCrossEntropy, "", cross_entropy<each::categorical_crossentropy>},
    {"_sparse_categorical_crossentropy", "labels, y_pred, from_logits, axis", "",
     [](const Arguments& a) {
       return of_both(a, [from_logits = a.boolean(2), axis = a.small(3)](In t, In p) {
         return each::sparse_categorical_crossentropy(t, p, from_logits, axis);
       });
     }},
    {"_binary_focal_crossentropy", kFocal, "", focal<each::binary_focal_crossentropy>},
    {"_categorical_focal_crossentropy", kFocal, "", focal<each::categorical_focal_crossentropy>},
    {"_categorical_generalized_cross_entropy", "labels, y_pred, q", "",
     [](const Arguments& a) {
       return of_both(a, [q = a.real(2)](In t, In p) {
         return each::categorical_generalized_cross_entropy(t, p, q);
       });
     }},
    {"_dice", "y_true, y_pred, axis", "",
     [](const Arguments& a) {
       return of_both(a, [axes = axes_of(a, 2)](In t, In p) { return each::dice(t, p, axes); });
     }},
    {"_tversky", "y_true, y_pred, alpha, beta, axis", "",
     [](const Arguments& a) {
       const keras::TverskyOptions options{a.real(2), a.real(3), axes_of(a, 4)};
       return of_both(a, [&](In t, In p) { return each::tversky(t, p, options); });
     }},
    {"_circle", "labels, y_pred, ref_labels, ref_embeddings, remove_diagonal, gamma, margin", "",
     [](const Arguments& a) {
       const Tensor labels = a.is_none(2) ? Tensor() : a.tensor(2);
       const Tensor references = a.is_none(3) ? Tensor() : a.tensor(3);
       const keras::CircleOptions options{
           .gamma = a.real(5), .margin = a.real(6), .remove_diagonal = a.boolean(4)};
       return of_both(a,
                      [&](In t, In p) { return each::circle(t, p, options, labels, references); });
     }},
    {"_ctc", "labels, logits, label_lengths, logit_lengths, blank", "",
     [](const Arguments& a) {
       const Tensor labels = a.tensor(2), logits = a.tensor(3);
       return of_both(a, [&, blank = a.integer(4)](In t, In p) {
         return each::ctc(t, p, labels, logits, blank);
       });
     }},
};

}  // namespace

void add_loss_functions() { add_functions(entries); }

}  // namespace gradus::python
