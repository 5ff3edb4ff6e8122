"""The square of a number and its derivatives, in the ways there are to ask for them."""
import gradus as tf
import gradus


def main():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x ** 2
    print("x^2 =", y.numpy(), " derivative", tape.gradient(y, x).numpy())

    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x ** 3
        slope = inner.gradient(y, x)
    print("x^3: derivative", slope.numpy(), " second derivative", outer.gradient(slope, x).numpy())

    cube = lambda t: t ** 3  # noqa: E731
    at = tf.constant(3.0)
    return [float(v) for v in (gradus.grad(cube)(at), gradus.grad(gradus.grad(cube))(at), gradus.hvp(cube, at, at))]


if __name__ == "__main__":
    print("grad, grad of grad, Hessian times x:", main())
