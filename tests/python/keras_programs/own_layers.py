# ruff: noqa
import numpy as np
import keras
from keras import layers, ops
class Linear(keras.layers.Layer):
    def __init__(self, units=32, **kwargs):
        super().__init__(**kwargs)
        self.units = units
    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True)
        self.b = self.add_weight(shape=(self.units,), initializer="random_normal", trainable=True)
    def call(self, inputs):
        return ops.matmul(inputs, self.w) + self.b
    def get_config(self):
        config = super().get_config()
        config.update({"units": self.units})
        return config
class ComputeSum(keras.layers.Layer):
    def __init__(self, input_dim):
        super().__init__()
        self.total = self.add_weight(initializer="zeros", shape=(input_dim,), trainable=False)
    def call(self, inputs):
        self.total.assign_add(ops.sum(inputs, axis=0))
        return self.total
x = ops.ones((2, 2))
my_sum = ComputeSum(2)
print(my_sum(x).numpy()); print(my_sum(x).numpy())
print("weights:", len(my_sum.weights)); print("non-trainable weights:", len(my_sum.non_trainable_weights)); print("trainable_weights:", my_sum.trainable_weights)
class MLPBlock(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.linear_1 = Linear(32); self.linear_2 = Linear(32); self.linear_3 = Linear(1)
    def call(self, inputs):
        x = self.linear_1(inputs)
        x = keras.activations.relu(x)
        x = self.linear_2(x)
        x = keras.activations.relu(x)
        return self.linear_3(x)
mlp = MLPBlock()
y = mlp(ops.ones(shape=(3, 64)))
print("weights:", len(mlp.weights)); print([w.path for w in mlp.weights])
class ActivityRegularizationLayer(keras.layers.Layer):
    def __init__(self, rate=1e-2):
        super().__init__(); self.rate = rate
    def call(self, inputs):
        self.add_loss(self.rate * ops.mean(inputs))
        return inputs
class OuterLayerWithKernelRegularizer(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(32, kernel_regularizer=keras.regularizers.l2(1e-3))
        self.activity_reg = ActivityRegularizationLayer(1e-2)
    def call(self, inputs):
        return self.dense(self.activity_reg(inputs))
layer = OuterLayerWithKernelRegularizer()
assert len(layer.losses) == 0
_ = layer(ops.ones((1, 1)))
print(len(layer.losses), [float(l) for l in layer.losses])
inputs = keras.Input(shape=(3,))
outputs = ActivityRegularizationLayer()(inputs)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mse")
print(model.fit(np.ones((2, 3)), np.ones((2, 3)), verbose=0).history)
model.compile(optimizer="adam")
print(model.fit(np.ones((2, 3)), np.ones((2, 3)), verbose=0).history)
layer = Linear(64, name="lin")
config = layer.get_config()
print(config)
new_layer = Linear.from_config(config)
print(new_layer.name, new_layer.units, new_layer.built)
class CustomDropout(keras.layers.Layer):
    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.seed_generator = keras.random.SeedGenerator(1337)
    def call(self, inputs, training=None):
        if training:
            return keras.random.dropout(inputs, rate=self.rate, seed=self.seed_generator)
        return inputs
d = CustomDropout(.5)
print(d(ops.ones((2, 4)), training=True).numpy(), d(ops.ones((1, 2))).numpy())
class LogisticEndpoint(keras.layers.Layer):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
        self.accuracy_metric = keras.metrics.BinaryAccuracy()
    def call(self, targets, logits, sample_weights=None):
        loss = self.loss_fn(targets, logits, sample_weights)
        self.add_loss(loss)
        self.accuracy_metric.update_state(targets, logits)
        return ops.softmax(logits)
inputs = keras.Input(shape=(3,), name="inputs"); targets = keras.Input(shape=(10,), name="targets")
logits = keras.layers.Dense(10)(inputs)
predictions = LogisticEndpoint(name="predictions")(targets, logits)
model = keras.Model(inputs=[inputs, targets], outputs=predictions)
model.compile(optimizer="adam")
h = model.fit({"inputs": np.ones((3, 3)), "targets": np.ones((3, 10))}, verbose=0)
print({k: [round(float(x), 4) for x in v] for k, v in h.history.items()}); print([m.name for m in model.metrics])
model.summary()
