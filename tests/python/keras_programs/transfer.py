# ruff: noqa
import numpy as np
import keras
from keras import layers
base_model = keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.GlobalAveragePooling2D()], name="base")
base_model.trainable = False
inputs = keras.Input(shape=(16, 16, 3))
x = layers.RandomFlip("horizontal")(inputs)
x = layers.Rescaling(scale=1 / 127.5, offset=-1)(x)
x = base_model(x, training=False)
x = keras.layers.Dropout(0.2)(x)
outputs = keras.layers.Dense(1)(x)
model = keras.Model(inputs, outputs)
model.summary(show_trainable=True)
model.compile(optimizer=keras.optimizers.Adam(), loss=keras.losses.BinaryCrossentropy(from_logits=True), metrics=[keras.metrics.BinaryAccuracy()])
rng = np.random.RandomState(0)
X, Y = rng.rand(32, 16, 16, 3) * 255, rng.randint(0, 2, 32)
b0 = [w.copy() for w in base_model.get_weights()]
print(model.fit(X, Y, epochs=2, shuffle=False, verbose=0).history)
print(all(np.array_equal(a, b) for a, b in zip(b0, base_model.get_weights())))
print(len(model.trainable_weights), len(model.non_trainable_weights))
base_model.trainable = True
model.summary(show_trainable=True, expand_nested=True)
model.compile(optimizer=keras.optimizers.Adam(1e-5), loss=keras.losses.BinaryCrossentropy(from_logits=True), metrics=[keras.metrics.BinaryAccuracy()])
print(model.fit(X, Y, epochs=1, shuffle=False, verbose=0).history)
for layer in base_model.layers[:1]: layer.trainable = False
print([(l.name, l.trainable) for l in base_model.layers], len(model.trainable_variables))
print(model.optimizer.get_config())
