"""REINFORCE on a bandit with four arms: the gradient of an expectation from samples."""
import gradus as tf


def main(steps=200):
    tf.random.set_seed(7)
    rewards = tf.constant([0.1, 0.5, 0.9, 0.3])
    logits = tf.Variable(tf.zeros([4]))
    for _ in range(steps):
        actions = tf.random.categorical(logits[tf.newaxis], 64)[0]
        reward = tf.gather(rewards, actions) + tf.random.normal([64], stddev=0.1)
        advantage = reward - tf.reduce_mean(reward)
        with tf.GradientTape() as tape:
            log_probability = tf.gather(tf.nn.log_softmax(logits), actions)
            loss = -tf.reduce_mean(tf.stop_gradient(advantage) * log_probability)
        logits.assign_sub(1.0 * tape.gradient(loss, logits))
    return tf.nn.softmax(logits).numpy()


if __name__ == "__main__":
    print("probabilities of the arms:", main())
