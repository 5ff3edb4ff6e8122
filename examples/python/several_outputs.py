"""Several outputs: a gradient sums them; a Jacobian keeps them apart, in either mode."""
import gradus as tf
import gradus


def main():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.stack([tf.reduce_sum(x), tf.reduce_prod(x)])
        first, second = tf.unstack(y)
    summed = tape.gradient(y, x)
    apart = tape.jacobian(y, x)
    one_by_one = [tape.gradient(t, x) for t in (first, second)]
    f = lambda v: tf.stack([tf.reduce_sum(v), tf.reduce_prod(v)])  # noqa: E731
    by_mode = {mode: gradus.jacobian(f, x.value(), mode=mode) for mode in ("forward", "reverse")}
    _, why = gradus.jacobian(f, x.value(), report=True)
    return summed.numpy(), apart.numpy(), [g.numpy() for g in one_by_one], {m: j.numpy() for m, j in by_mode.items()}, why


if __name__ == "__main__":
    for part in main():
        print(part)
