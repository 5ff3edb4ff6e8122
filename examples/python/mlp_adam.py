"""A multi-layer perceptron with an Adam of its own, on a function of two variables."""
import gradus as tf


class MLP(tf.Module):
    def __init__(self, sizes):
        super().__init__()
        self.weights = [tf.Variable(tf.random.normal([a, b], stddev=(2.0 / a) ** 0.5)) for a, b in zip(sizes, sizes[1:])]
        self.biases = [tf.Variable(tf.zeros([b])) for b in sizes[1:]]

    def __call__(self, x):
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            x = tf.nn.tanh(x @ w + b)
        return x @ self.weights[-1] + self.biases[-1]


class Adam:
    def __init__(self, variables, learning_rate=1e-2, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
        self.variables, self.rate, self.betas, self.epsilon = variables, learning_rate, (beta_1, beta_2), epsilon
        self.m = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.v = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.step = 0

    def apply(self, gradients):
        self.step += 1
        b1, b2 = self.betas
        alpha = self.rate * (1 - b2 ** self.step) ** 0.5 / (1 - b1 ** self.step)
        for variable, m, v, g in zip(self.variables, self.m, self.v, gradients):
            m.assign_add((g - m) * (1 - b1))
            v.assign_add((tf.square(g) - v) * (1 - b2))
            variable.assign_sub(alpha * m / (tf.sqrt(v) + self.epsilon))


def main(steps=400):
    tf.random.set_seed(0)
    x = tf.random.uniform([256, 2], -1.0, 1.0)
    y = tf.sin(3.0 * x[:, :1]) * x[:, 1:]
    model = MLP([2, 32, 32, 1])
    optimizer = Adam(model.trainable_variables)
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        optimizer.apply(tape.gradient(loss, model.trainable_variables))
        losses.append(float(loss))
    return losses[0], losses[-1]


if __name__ == "__main__":
    print("loss from {:.4f} to {:.6f}".format(*main()))
