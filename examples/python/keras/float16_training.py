"""Training in half precision: float16 activations, float32 variables, a loss scale that adapts."""
from digits import load
from gradus import keras


def train(policy, epochs, run_eagerly):
    keras.mixed_precision.set_global_policy(policy)
    try:
        keras.utils.set_random_seed(16)
        (x, y), test = load()
        model = keras.Sequential([
            keras.Input((8, 8, 1)),
            keras.layers.Flatten(),
            keras.layers.Dense(64, "relu"),
            keras.layers.Dense(10, "softmax", dtype="float32"),
        ])
        model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"],
                      run_eagerly=run_eagerly)
        model.fit(x, y, epochs=epochs, verbose=0)
        hidden = model.layers[1]
        return model.evaluate(*test, verbose=0)[1], hidden.compute_dtype, hidden.kernel.dtype, type(model.optimizer).__name__
    finally:
        keras.mixed_precision.set_global_policy("float32")


def main(epochs=6, run_eagerly=False):
    return {policy: train(policy, epochs, run_eagerly) for policy in ("float32", "mixed_float16", "mixed_bfloat16")}


if __name__ == "__main__":
    for policy, (accuracy, compute, weights, optimizer) in main().items():
        print(f"{policy}: accuracy {accuracy:.1%}, computes in {compute}, weights in {weights}, {optimizer}")
