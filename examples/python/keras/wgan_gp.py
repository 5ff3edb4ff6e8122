"""A Wasserstein GAN with gradient penalty: points on a ring; a gradient within the loss of another."""
import numpy as np
import gradus as tf
from gradus import keras

layers = keras.layers


class WGAN(keras.Model):
    def __init__(self, noise=4, penalty=1.0, **kwargs):
        super().__init__(**kwargs)
        self.noise, self.penalty = noise, penalty
        self.generator = keras.Sequential([keras.Input((noise,)), layers.Dense(32, activation="relu"),
                                           layers.Dense(32, activation="relu"), layers.Dense(2)])
        self.critic = keras.Sequential([keras.Input((2,)), layers.Dense(32, activation="leaky_relu"),
                                        layers.Dense(32, activation="leaky_relu"), layers.Dense(1)])

    def compile(self, critic_optimizer, generator_optimizer, **kwargs):
        super().compile(**kwargs)
        self.critic_optimizer, self.generator_optimizer = critic_optimizer, generator_optimizer

    def train_step(self, real):
        count = tf.shape(real)[0]
        for _ in range(3):
            fake = self.generator(tf.random.normal([count, self.noise]), training=True)
            mix = tf.random.uniform([count, 1])
            with tf.GradientTape() as tape:
                between = mix * real + (1 - mix) * fake
                with tf.GradientTape() as inner:
                    inner.watch(between)
                    score = self.critic(between, training=True)
                slope = tf.norm(inner.gradient(score, between), axis=1)
                distance = tf.reduce_mean(self.critic(real)) - tf.reduce_mean(self.critic(fake))
                loss = -distance + self.penalty * tf.reduce_mean((slope - 1.0) ** 2)
            gradients = tape.gradient(loss, self.critic.trainable_variables)
            self.critic_optimizer.apply_gradients(zip(gradients, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            fake = self.generator(tf.random.normal([count, self.noise]), training=True)
            loss = -tf.reduce_mean(self.critic(fake, training=True))
        gradients = tape.gradient(loss, self.generator.trainable_variables)
        self.generator_optimizer.apply_gradients(zip(gradients, self.generator.trainable_variables))
        return {"distance": distance, "slope": tf.reduce_mean(slope)}


def main(epochs=40, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(8)
    angles = np.random.RandomState(0).uniform(0, 2 * np.pi, 512)
    ring = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    model = WGAN()
    model.compile(keras.optimizers.Adam(3e-3, beta_1=0.5), keras.optimizers.Adam(3e-3, beta_1=0.5),
                  run_eagerly=run_eagerly)
    noise = tf.random.normal([512, 4])
    before = np.linalg.norm(model.generator(noise), axis=1)
    history = model.fit(ring, batch_size=128, epochs=epochs, verbose=verbose).history
    after = np.linalg.norm(model.generator(noise), axis=1)
    return abs(before.mean() - 1), abs(after.mean() - 1), float(after.std()), float(history["slope"][-1])


if __name__ == "__main__":
    print("radius off by {:.2f} before, {:.2f} after (spread {:.2f}); slope of the critic {:.2f}".format(*main(verbose=1)))
