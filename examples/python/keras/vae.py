"""A variational autoencoder: a sampling layer, add_loss-free, with a train_step of its own."""
import gradus as tf
from digits import load
from gradus import keras

layers = keras.layers


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seeds = keras.random.SeedGenerator(7)

    def call(self, mean, log_variance):
        noise = keras.random.normal(tf.shape(mean), seed=self.seeds)
        return mean + tf.exp(0.5 * log_variance) * noise


class VAE(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.hidden = keras.Sequential([layers.Flatten(), layers.Dense(48, activation="relu")])
        self.mean, self.log_variance, self.sampling = layers.Dense(4), layers.Dense(4), Sampling()
        self.decoder = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(64), layers.Reshape((8, 8, 1))])
        self.total = keras.metrics.Mean(name="loss")
        self.divergence = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total, self.divergence]

    def call(self, images):
        hidden = self.hidden(images)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        return self.decoder(self.sampling(mean, log_variance)), mean, log_variance

    def train_step(self, images):
        with tf.GradientTape() as tape:
            logits, mean, log_variance = self(images, training=True)
            errors = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
            reconstruction = tf.reduce_mean(tf.reduce_sum(errors, axis=(1, 2, 3)))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_variance - mean ** 2 - tf.exp(log_variance), axis=1))
            loss = reconstruction + kl
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.total.update_state(loss)
        self.divergence.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


def main(epochs=10, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(7)
    (x, _), _ = load()
    model = VAE()
    model.compile(optimizer=keras.optimizers.Adam(3e-3), run_eagerly=run_eagerly)
    history = model.fit(x, batch_size=32, epochs=epochs, verbose=verbose).history
    drawn = tf.sigmoid(model.decoder(tf.random.normal([5, 4])))
    return history["loss"][0], history["loss"][-1], history["kl"][-1], tuple(drawn.shape)


if __name__ == "__main__":
    print("loss from {:.1f} to {:.1f} (KL {:.2f}); drew digits of shape {}".format(*main(verbose=1)))
