// Layers, with losses (gradus/losses.h) and optimizers (gradus/optimizers.h): Keras from C++.
//
//   gd::keras::Dense hidden(64, 128, "relu"), out(128, 10);
//   gd::keras::Adam adam;
//   gd::GradientTape tape;
//   auto loss = gd::keras::sparse_categorical_crossentropy(y, out(hidden(x)));
//   adam.minimize(tape, loss, gd::keras::variables(hidden, out));
//
// What a layer computes is a function of namespace forms, on the public headers alone: Python's
// layers call the same ones (docs/design/027). A layer here is a small struct of its settings and
// variables. Sizes of inputs are given, so it has its variables from the start; copies share them.
#pragma once
#include "gradus/activations.h"
#include "gradus/layers_attention.h"
#include "gradus/layers_convolution.h"
#include "gradus/layers_dense.h"
#include "gradus/layers_dropout.h"
#include "gradus/layers_normalization.h"
#include "gradus/layers_pooling.h"
#include "gradus/layers_recurrent.h"
#include "gradus/layers_shaping.h"
#include "gradus/losses.h"
#include "gradus/nn.h"
#include "gradus/optimizers.h"
#include "gradus/sequential.h"
