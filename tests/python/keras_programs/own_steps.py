# ruff: noqa
import tensorflow as tf
import keras
import numpy as np
class CustomModel(keras.Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae_metric = keras.metrics.MeanAbsoluteError(name="mae")
        self.loss_fn = keras.losses.MeanSquaredError()
    def train_step(self, data):
        if len(data) == 3: x, y, sample_weight = data
        else:
            sample_weight = None; x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.loss_fn(y, y_pred, sample_weight=sample_weight)
        trainable_vars = self.trainable_variables
        gradients = tape.gradient(loss, trainable_vars)
        self.optimizer.apply(gradients, trainable_vars)
        self.loss_tracker.update_state(loss, sample_weight=sample_weight) if sample_weight is None else self.loss_tracker.update_state(loss)
        self.mae_metric.update_state(y, y_pred, sample_weight=sample_weight)
        return {m.name: m.result() for m in self.metrics}
    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        loss = self.loss_fn(y, y_pred)
        self.loss_tracker.update_state(loss); self.mae_metric.update_state(y, y_pred)
        return {"loss": self.loss_tracker.result(), "mae": self.mae_metric.result()}
    @property
    def metrics(self): return [self.loss_tracker, self.mae_metric]
inputs = keras.Input(shape=(32,)); outputs = keras.layers.Dense(1)(inputs)
model = CustomModel(inputs, outputs)
model.compile(optimizer="adam")
rng = np.random.RandomState(0); x, y, sw = rng.rand(100, 32), rng.rand(100, 1), rng.rand(100, 1)
print(model.fit(x, y, epochs=3, verbose=0).history)
print(model.fit(x, y, sample_weight=sw, epochs=2, verbose=0).history)
print(model.evaluate(x, y, verbose=0), model.evaluate(x, y, verbose=0, return_dict=True))
class M2(keras.Model):
    def __init__(self):
        super().__init__()
        self.d = keras.layers.Dense(1)
        self.acc = keras.metrics.MeanSquaredError(name="m2")
    def call(self, x): return self.d(x)
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        for metric in self.metrics:
            if metric.name == "loss": metric.update_state(loss)
            else: metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}
m = M2(); m.compile(optimizer="sgd", loss="mse", metrics=["mae"])
print(m.fit(x, y, epochs=2, verbose=0).history, [t.name for t in m.metrics])
print(m.metrics_names)
opt = keras.optimizers.SGD(learning_rate=keras.optimizers.schedules.PiecewiseConstantDecay([2, 4], [0.1, 0.01, 0.001]))
w = keras.Variable([1., 2.])
for i in range(5):
    with tf.GradientTape() as tape: loss = tf.reduce_sum(w * w)
    opt.apply_gradients(zip(tape.gradient(loss, [w]), [w])); print(opt.iterations.numpy(), float(opt.learning_rate), w.numpy())
model.compile(optimizer=keras.optimizers.Adam(learning_rate=keras.optimizers.schedules.CosineDecay(1e-2, 100), clipvalue=0.5, use_ema=True, ema_momentum=0.9), run_eagerly=True)
print(model.fit(x, y, epochs=1, verbose=0).history); model.compile(optimizer="sgd", jit_compile=False, steps_per_execution=2); print(model.fit(x, y, epochs=1, verbose=0).history)
train_dataset = tf.data.Dataset.from_tensor_slices((x.astype("float32"), y.astype("float32"))).shuffle(buffer_size=1024, seed=3).batch(16)
optimizer = keras.optimizers.Adam(learning_rate=1e-3); loss_fn = keras.losses.MeanSquaredError(); metric = keras.metrics.RootMeanSquaredError()
for epoch in range(2):
    for step, (xb, yb) in enumerate(train_dataset):
        with tf.GradientTape() as tape:
            p = model(xb, training=True); l = loss_fn(yb, p); l += sum(model.losses)
        grads = tape.gradient(l, model.trainable_weights); optimizer.apply(grads, model.trainable_weights); metric.update_state(yb, p)
        if step % 3 == 0: print(f"Training loss (for 1 batch) at step {step}: {float(l):.4f}")
    print(f"Training acc over epoch: {float(metric.result()):.4f}"); metric.reset_state()
