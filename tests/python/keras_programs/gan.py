# ruff: noqa
import os
import tensorflow as tf
import keras
from keras import layers, ops
import numpy as np
class GAN(keras.Model):
    def __init__(self, discriminator, generator, latent_dim):
        super().__init__()
        self.discriminator = discriminator
        self.generator = generator
        self.latent_dim = latent_dim
        self.seed_generator = keras.random.SeedGenerator(1337)
    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer = d_optimizer; self.g_optimizer = g_optimizer; self.loss_fn = loss_fn
        self.d_loss_metric = keras.metrics.Mean(name="d_loss"); self.g_loss_metric = keras.metrics.Mean(name="g_loss")
    @property
    def metrics(self): return [self.d_loss_metric, self.g_loss_metric]
    def train_step(self, real_images):
        batch_size = ops.shape(real_images)[0]
        random_latent_vectors = keras.random.normal(shape=(batch_size, self.latent_dim), seed=self.seed_generator)
        generated_images = self.generator(random_latent_vectors)
        combined_images = ops.concatenate([generated_images, real_images], axis=0)
        labels = ops.concatenate([ops.ones((batch_size, 1)), ops.zeros((batch_size, 1))], axis=0)
        labels += 0.05 * tf.random.uniform(tf.shape(labels))
        with tf.GradientTape() as tape:
            predictions = self.discriminator(combined_images)
            d_loss = self.loss_fn(labels, predictions)
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))
        random_latent_vectors = keras.random.normal(shape=(batch_size, self.latent_dim), seed=self.seed_generator)
        misleading_labels = ops.zeros((batch_size, 1))
        with tf.GradientTape() as tape:
            predictions = self.discriminator(self.generator(random_latent_vectors))
            g_loss = self.loss_fn(misleading_labels, predictions)
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.d_loss_metric.update_state(d_loss); self.g_loss_metric.update_state(g_loss)
        return {"d_loss": self.d_loss_metric.result(), "g_loss": self.g_loss_metric.result()}
discriminator = keras.Sequential([keras.Input(shape=(16, 16, 3)), layers.Conv2D(8, kernel_size=4, strides=2, padding="same"), layers.LeakyReLU(negative_slope=0.2), layers.Flatten(), layers.Dropout(0.2), layers.Dense(1, activation="sigmoid")], name="discriminator")
generator = keras.Sequential([keras.Input(shape=(8,)), layers.Dense(4 * 4 * 8), layers.Reshape((4, 4, 8)), layers.Conv2DTranspose(8, kernel_size=4, strides=2, padding="same"), layers.LeakyReLU(negative_slope=0.2), layers.UpSampling2D(2, interpolation="bilinear"), layers.Conv2D(3, kernel_size=5, padding="same", activation="sigmoid")], name="generator")
class GANMonitor(keras.callbacks.Callback):
    def __init__(self, num_img=3, latent_dim=128):
        self.num_img = num_img; self.latent_dim = latent_dim
        self.seed_generator = keras.random.SeedGenerator(42)
    def on_epoch_end(self, epoch, logs=None):
        v = keras.random.normal(shape=(self.num_img, self.latent_dim), seed=self.seed_generator)
        g = self.model.generator(v)
        g *= 255
        g.numpy(); print("epoch", epoch, g.shape, sorted(logs))
ds = tf.data.Dataset.from_tensor_slices(np.random.RandomState(0).rand(40, 16, 16, 3).astype("float32")).batch(16)
gan = GAN(discriminator=discriminator, generator=generator, latent_dim=8)
gan.compile(d_optimizer=keras.optimizers.Adam(learning_rate=0.0001), g_optimizer=keras.optimizers.Adam(learning_rate=0.0001), loss_fn=keras.losses.BinaryCrossentropy())
h = gan.fit(ds, epochs=2, callbacks=[GANMonitor(num_img=2, latent_dim=8)], verbose=0)
print({k: [round(float(v), 1) for v in vs] for k, vs in h.history.items()})
generator.summary()
