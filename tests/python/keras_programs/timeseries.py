# ruff: noqa
import numpy as np
import tensorflow as tf
from tensorflow import keras
t = np.arange(300, dtype="float32")
data = np.stack([np.sin(t / 10), np.cos(t / 7), t / 300], -1)
targets = np.roll(data[:, 0], -1)
past, future = 20, 5
train = keras.preprocessing.timeseries_dataset_from_array(
    data[:-past], targets[past:], sequence_length=past, sampling_rate=2, batch_size=32)
for batch in train.take(1):
    inputs, tg = batch
print("Input shape:", inputs.numpy().shape)
print("Target shape:", tg.numpy().shape)
inputs = keras.layers.Input(shape=(inputs.shape[1], inputs.shape[2]))
lstm_out = keras.layers.LSTM(32)(inputs)
outputs = keras.layers.Dense(1)(lstm_out)
model = keras.Model(inputs=inputs, outputs=outputs)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.001), loss="mse")
model.summary()
path_checkpoint = "model_checkpoint.weights.h5"
es_callback = keras.callbacks.EarlyStopping(monitor="val_loss", min_delta=0, patience=5)
modelckpt_callback = keras.callbacks.ModelCheckpoint(monitor="val_loss", filepath=path_checkpoint, verbose=1,
    save_weights_only=True, save_best_only=True)
history = model.fit(train, epochs=3, validation_data=train, callbacks=[es_callback, modelckpt_callback], verbose=0)
print([round(v, 3) for v in history.history["val_loss"]])
for x, y in train.take(2):
    print(model.predict(x, verbose=0)[0].round(3))
