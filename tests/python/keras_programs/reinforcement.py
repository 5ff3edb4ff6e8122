# ruff: noqa
import numpy as np
import tensorflow as tf
import keras
from keras import layers
keras.utils.set_random_seed(42)
num_inputs, num_actions, num_hidden = 4, 2, 16
inputs = layers.Input(shape=(num_inputs,))
common = layers.Dense(num_hidden, activation="relu")(inputs)
action = layers.Dense(num_actions, activation="softmax")(common)
critic = layers.Dense(1)(common)
model = keras.Model(inputs=inputs, outputs=[action, critic])
optimizer = keras.optimizers.Adam(learning_rate=0.01)
huber_loss = keras.losses.Huber()
gamma, eps = 0.99, np.finfo(np.float32).eps.item()
rng = np.random.RandomState(0)
for episode in range(2):
    action_probs_history, critic_value_history, rewards_history = [], [], []
    with tf.GradientTape() as tape:
        for timestep in range(1, 8):
            state = rng.rand(4)
            state = keras.ops.convert_to_tensor(state)
            state = keras.ops.expand_dims(state, 0)
            action_probs, critic_value = model(state)
            critic_value_history.append(critic_value[0, 0])
            a = rng.choice(num_actions, p=np.squeeze(action_probs) / np.sum(np.squeeze(action_probs)))
            action_probs_history.append(keras.ops.log(action_probs[0, a]))
            rewards_history.append(float(a))
        returns, discounted_sum = [], 0
        for r in rewards_history[::-1]:
            discounted_sum = r + gamma * discounted_sum
            returns.insert(0, discounted_sum)
        returns = np.array(returns); returns = (returns - np.mean(returns)) / (np.std(returns) + eps); returns = returns.tolist()
        actor_losses, critic_losses = [], []
        for log_prob, value, ret in zip(action_probs_history, critic_value_history, returns):
            diff = ret - value
            actor_losses.append(-log_prob * diff)
            critic_losses.append(huber_loss(keras.ops.expand_dims(value, 0), keras.ops.expand_dims(ret, 0)))
        loss_value = sum(actor_losses) + sum(critic_losses)
    grads = tape.gradient(loss_value, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print("%.3f" % loss_value)
def create_q_model():
    return keras.Sequential([layers.Lambda(lambda tensor: keras.ops.transpose(tensor, [0, 2, 3, 1]), output_shape=(20, 20, 4), input_shape=(4, 20, 20)),
        layers.Conv2D(8, 8, strides=4, activation="relu"), layers.Flatten(), layers.Dense(8, activation="relu"), layers.Dense(num_actions, activation="linear")])
q, q_target = create_q_model(), create_q_model()
q.summary()
optimizer = keras.optimizers.Adam(learning_rate=0.00025, clipnorm=1.0)
s, s2 = rng.rand(8, 4, 20, 20).astype("float32"), rng.rand(8, 4, 20, 20).astype("float32")
future = q_target.predict(s2, verbose=0)
updated = rng.rand(8) + gamma * keras.ops.amax(future, axis=1)
masks = keras.ops.one_hot(rng.randint(0, 2, 8), num_actions)
with tf.GradientTape() as tape:
    q_values = q(s)
    q_action = keras.ops.sum(keras.ops.multiply(q_values, masks), axis=1)
    loss = huber_loss(updated, q_action)
grads = tape.gradient(loss, q.trainable_variables)
optimizer.apply_gradients(zip(grads, q.trainable_variables)); q_target.set_weights(q.get_weights())
print("%.4f" % loss, [tuple(w.shape) for w in q_target.weights])
std_dev = 0.2
actor = keras.Sequential([layers.Input(shape=(3,)), layers.Dense(16, activation="relu"), layers.Dense(1, activation="tanh", kernel_initializer=keras.initializers.RandomUniform(minval=-0.003, maxval=0.003, seed=1))])
a1, a2 = layers.Input(shape=(3,)), layers.Input(shape=(1,))
cr = keras.Model([a1, a2], layers.Dense(1)(layers.Concatenate()([layers.Dense(4, activation="relu")(a1), a2])))
def update_target(target, original, tau):
    tw, ow = target.get_weights(), original.get_weights()
    for i in range(len(tw)): tw[i] = ow[i] * tau + tw[i] * (1 - tau)
    target.set_weights(tw)
t = keras.models.clone_model(actor); update_target(t, actor, 0.005)
@tf.function
def update(state, act):
    with tf.GradientTape() as tape:
        critic_loss = keras.ops.mean(keras.ops.square(cr([state, act], training=True) - 1.0))
    return critic_loss, tape.gradient(critic_loss, cr.trainable_variables)
l, g = update(tf.ones((4, 3)), tf.ones((4, 1))); print("%.3f" % l, len(g), actor(tf.ones((1, 3))).shape)
