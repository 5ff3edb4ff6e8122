# ruff: noqa
import random
import numpy as np
import tensorflow as tf
from collections import defaultdict
import keras
from keras import layers
rng = np.random.RandomState(0)
num_classes = 4
x_train = rng.rand(80, 16, 16, 3).astype("float32"); y_train = np.arange(80) % num_classes
class_idx = defaultdict(list)
for i, y in enumerate(y_train): class_idx[y].append(i)
random.seed(3)
class AnchorPositivePairs(keras.utils.Sequence):
    def __init__(self, n_batches):
        super().__init__()
        self.n_batches = n_batches
    def __len__(self):
        return self.n_batches
    def __getitem__(self, _idx):
        x = np.empty((2, num_classes, 16, 16, 3), dtype=np.float32)
        for c in range(num_classes):
            ex = class_idx[c]
            a = random.choice(ex); p = random.choice(ex)
            while p == a: p = random.choice(ex)
            x[0, c] = x_train[a]; x[1, c] = x_train[p]
        return x
class EmbeddingModel(keras.Model):
    def train_step(self, data):
        if isinstance(data, tuple): data = data[0]
        anchors, positives = data[0], data[1]
        with tf.GradientTape() as tape:
            anchor_embeddings = self(anchors, training=True)
            positive_embeddings = self(positives, training=True)
            similarities = keras.ops.einsum("ae,pe->ap", anchor_embeddings, positive_embeddings)
            temperature = 0.2
            similarities /= temperature
            sparse_labels = keras.ops.arange(num_classes)
            loss = self.compute_loss(y=sparse_labels, y_pred=similarities)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss": metric.update_state(loss)
            else: metric.update_state(sparse_labels, similarities)
        return {m.name: m.result() for m in self.metrics}
inputs = layers.Input(shape=(16, 16, 3))
x = layers.Conv2D(filters=8, kernel_size=3, strides=2, activation="relu")(inputs)
x = layers.Conv2D(filters=16, kernel_size=3, strides=2, activation="relu")(x)
x = layers.GlobalAveragePooling2D()(x)
embeddings = layers.Dense(units=8, activation=None)(x)
embeddings = layers.UnitNormalization()(embeddings)
model = EmbeddingModel(inputs, embeddings)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=1e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(AnchorPositivePairs(n_batches=5), epochs=2, verbose=0, shuffle=False)
print(history.history)
e = model.predict(x_train, verbose=0)
g = np.einsum("ae,be->ab", e, e)
print(g.shape, np.allclose(np.diag(g), 1, atol=1e-4))
model.summary()
