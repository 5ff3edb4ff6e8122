"""Python's control flow in compiled functions: written as Python, run as one program."""
import gradus as tf


@tf.function
def longest_collatz(limit):
    """The number below limit that needs most steps, and its steps."""
    best, most = 1, 0
    for start in tf.range(1, limit):
        n, steps = start, 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > most:
            best, most = start, steps
    return best, most


@tf.function
def find(values, wanted):
    """Where a sorted vector has a value, or -1: a return inside a loop."""
    low, high = 0, len(values) - 1
    while low <= high:
        middle = (low + high) // 2
        if values[middle] == wanted:
            return middle
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


class Descent(tf.Module):
    """Gradient descent that halves its rate when the loss grows, and says so while it runs."""

    def __init__(self):
        super().__init__()
        self.x, self.rate = tf.Variable([3.0, -2.0]), tf.Variable(1.0)

    def loss(self):
        return tf.reduce_sum(self.x ** 2 * [1.0, 5.0])

    @tf.function
    def minimise(self, steps, quiet=False):
        last = self.loss()
        for step in tf.range(steps):
            with tf.GradientTape() as tape:
                loss = self.loss()
            if loss > last:
                self.rate.assign(self.rate * 0.5)
                if not quiet:  # a Python value: decided while the function is traced
                    tf.print("step", step, "rate", self.rate)
            if loss < 1e-6:
                break
            last = loss
            self.x.assign_sub(self.rate * tape.gradient(loss, self.x))
        tf.debugging.assert_all_finite(self.x, "the descent went too far")
        return self.loss()


def main(quiet=True):
    start, steps = longest_collatz(tf.constant(1000))
    places = [int(find(tf.constant([1, 3, 5, 7, 9, 11]), tf.constant(v))) for v in (7, 4)]
    descent = Descent()
    return (int(start), int(steps)), places, float(descent.minimise(tf.constant(100), quiet))


if __name__ == "__main__":
    (start, steps), places, loss = main(quiet=False)
    print(f"below 1000, {start} needs {steps} steps; places {places}; loss {loss:.1e}")
