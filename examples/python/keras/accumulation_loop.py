"""A training loop of one's own over tf.data, with gradients summed over micro-batches."""
import numpy as np
import gradus as tf
from digits import load
from gradus import keras


def make_model():
    keras.utils.set_random_seed(15)
    return keras.Sequential([keras.Input((64,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(10)])


def main(epochs=3, micro=32, parts=4, run_eagerly=False):
    (x, y), (x_test, y_test) = load()
    x, x_test = x.reshape(-1, 64), x_test.reshape(-1, 64)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model, optimizer, accuracy = make_model(), keras.optimizers.Adam(1e-2), keras.metrics.SparseCategoricalAccuracy()
    sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]

    def accumulate(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True)) / parts
        for total, gradient in zip(sums, tape.gradient(loss, model.trainable_variables)):
            total.assign_add(gradient)
        return loss

    def update():
        optimizer.apply_gradients(zip(sums, model.trainable_variables))
        for total in sums:
            total.assign(tf.zeros_like(total))

    if not run_eagerly:
        accumulate, update = tf.function(accumulate), tf.function(update)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000, seed=1).batch(micro, drop_remainder=True)
    for _ in range(epochs):
        for step, (images, labels) in enumerate(data.prefetch(2)):
            accumulate(images, labels)
            if step % parts == parts - 1:
                update()
    accuracy.update_state(y_test, model(x_test))

    # One step of four micro-batches is one step of the whole batch.
    together, apart = make_model(), make_model()
    batch, labels = x[:micro * parts], y[:micro * parts]
    gradients = []
    for model_, pieces in ((together, 1), (apart, parts)):
        total = [tf.zeros_like(v) for v in model_.trainable_variables]
        for images, targets in zip(np.split(batch, pieces), np.split(labels, pieces)):
            with tf.GradientTape() as tape:
                loss = loss_of(targets, model_(images)) / pieces
            total = [t + g for t, g in zip(total, tape.gradient(loss, model_.trainable_variables))]
        gradients.append(total)
    difference = max(float(tf.reduce_max(tf.abs(a - b))) for a, b in zip(*gradients))
    return float(accuracy.result()), int(optimizer.iterations), difference


if __name__ == "__main__":
    print("held-out accuracy {:.1%} after {} updates; micro-batches against the whole: {:.1e}".format(*main()))
