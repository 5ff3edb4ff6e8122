# ruff: noqa
import os
import keras
from keras import layers
from keras import ops
import numpy as np
import tensorflow as tf
class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.teacher = teacher
        self.student = student
    def compile(self, optimizer, metrics, student_loss_fn, distillation_loss_fn, alpha=0.1, temperature=3):
        super().compile(optimizer=optimizer, metrics=metrics)
        self.student_loss_fn = student_loss_fn
        self.distillation_loss_fn = distillation_loss_fn
        self.alpha = alpha
        self.temperature = temperature
    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, allow_empty=False):
        teacher_pred = self.teacher(x, training=False)
        student_loss = self.student_loss_fn(y, y_pred)
        distillation_loss = self.distillation_loss_fn(
            ops.softmax(teacher_pred / self.temperature, axis=1),
            ops.softmax(y_pred / self.temperature, axis=1)) * (self.temperature**2)
        loss = self.alpha * student_loss + (1 - self.alpha) * distillation_loss
        return loss
    def call(self, x):
        return self.student(x)
def net(n, name):
    return keras.Sequential([keras.Input(shape=(12, 12, 1)), layers.Conv2D(n, (3, 3), strides=(2, 2), padding="same"),
        layers.LeakyReLU(negative_slope=0.2), layers.MaxPooling2D(pool_size=(2, 2), strides=(1, 1), padding="same"),
        layers.Conv2D(n * 2, (3, 3), strides=(2, 2), padding="same"), layers.Flatten(), layers.Dense(4)], name=name)
teacher, student = net(16, "teacher"), net(4, "student")
student_scratch = keras.models.clone_model(student)
rng = np.random.RandomState(0)
x, y = rng.rand(64, 12, 12, 1).astype("float32"), rng.randint(0, 4, 64)
teacher.compile(optimizer=keras.optimizers.Adam(), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy()])
h = teacher.fit(x, y, epochs=2, shuffle=False, verbose=0)
print(h.history)
distiller = Distiller(student=student, teacher=teacher)
distiller.compile(optimizer=keras.optimizers.Adam(), metrics=[keras.metrics.SparseCategoricalAccuracy()],
    student_loss_fn=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    distillation_loss_fn=keras.losses.KLDivergence(), alpha=0.1, temperature=10)
h = distiller.fit(x, y, epochs=2, shuffle=False, verbose=0)
print(h.history)
print(distiller.evaluate(x, y, verbose=0))
student_scratch.compile(optimizer=keras.optimizers.Adam(), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy()])
print(student_scratch.fit(x, y, epochs=1, shuffle=False, verbose=0).history)
print(student_scratch.name, [w.path for w in student_scratch.weights])
