"""Grad-CAM: where a convolutional network looked, from the gradient of a class score in its last feature maps."""
import gradus as tf
from cnn import build
from digits import load
from gradus import keras


def heatmap(model, layer_name, images, classes):
    """For each image a map in [0, 1], the size of the layer's output."""
    features_and_scores = keras.Model(model.inputs, [model.get_layer(layer_name).output, model.outputs[0]])
    with tf.GradientTape() as tape:
        features, scores = features_and_scores(images)
        chosen = tf.gather(scores, classes, batch_dims=1)
    weights = tf.reduce_mean(tape.gradient(chosen, features), axis=(1, 2), keepdims=True)
    maps = tf.nn.relu(tf.reduce_sum(weights * features, axis=-1))
    return maps / (tf.reduce_max(maps, axis=(1, 2), keepdims=True) + 1e-7)


def main(epochs=4, run_eagerly=False):
    keras.utils.set_random_seed(10)
    (x, y), (x_test, y_test) = load()
    model = build(pooled=True)
    model.compile(keras.optimizers.Adam(5e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  run_eagerly=run_eagerly)
    model.fit(x, y, epochs=epochs, verbose=0)
    last = [layer.name for layer in model.layers if isinstance(layer, keras.layers.Conv2D)][-1]
    return heatmap(model, last, tf.constant(x_test[:5]), tf.constant(y_test[:5])).numpy()


if __name__ == "__main__":
    for picture in main():
        print("\n".join("".join(" .:-=+*#%@"[int(9 * v)] * 2 for v in row) for row in picture), end="\n\n")
