# ruff: noqa
import numpy as np
import tensorflow as tf
from tensorflow import keras
rng = np.random.RandomState(0)
x, y = rng.rand(64, 8).astype("float32"), rng.rand(64, 1).astype("float32")
def get_model():
    model = keras.Sequential()
    model.add(keras.layers.Dense(1, input_dim=8))
    model.compile(optimizer=keras.optimizers.RMSprop(learning_rate=0.1), loss="mean_squared_error", metrics=["mean_absolute_error"])
    return model
class CustomCallback(keras.callbacks.Callback):
    def on_train_begin(self, logs=None): print("Starting training; got log keys: {}".format(list(logs.keys())))
    def on_train_end(self, logs=None): print("Stop training; got log keys: {}".format(list(logs.keys())))
    def on_epoch_begin(self, epoch, logs=None): print("Start epoch {}; {}".format(epoch, list(logs.keys())))
    def on_epoch_end(self, epoch, logs=None): print("End epoch {}; {}".format(epoch, list(logs.keys())))
    def on_test_begin(self, logs=None): print("Start testing; {}".format(list(logs.keys())))
    def on_test_end(self, logs=None): print("Stop testing; {}".format(list(logs.keys())))
    def on_predict_begin(self, logs=None): print("Start predicting; {}".format(list(logs.keys())))
    def on_predict_end(self, logs=None): print("Stop predicting; {}".format(list(logs.keys())))
    def on_train_batch_begin(self, batch, logs=None): print("...Training: start of batch {}; {}".format(batch, list(logs.keys())))
    def on_train_batch_end(self, batch, logs=None): print("...Training: end of batch {}; {}".format(batch, list(logs.keys())))
    def on_test_batch_begin(self, batch, logs=None): print("...Evaluating: start of batch {}; {}".format(batch, list(logs.keys())))
    def on_test_batch_end(self, batch, logs=None): print("...Evaluating: end of batch {}; {}".format(batch, list(logs.keys())))
    def on_predict_batch_begin(self, batch, logs=None): print("...Predicting: start of batch {}; {}".format(batch, list(logs.keys())))
    def on_predict_batch_end(self, batch, logs=None): print("...Predicting: end of batch {}; {}".format(batch, [(k, v.shape) for k, v in logs.items()]))
model = get_model()
model.fit(x, y, batch_size=32, epochs=1, verbose=0, validation_split=0.5, callbacks=[CustomCallback()])
model.evaluate(x, y, batch_size=32, verbose=0, callbacks=[CustomCallback()])
model.predict(x, batch_size=32, verbose=0, callbacks=[CustomCallback()])
class EarlyStoppingAtMinLoss(keras.callbacks.Callback):
    def __init__(self, patience=0):
        super().__init__()
        self.patience = patience
        self.best_weights = None
    def on_train_begin(self, logs=None):
        self.wait = 0; self.stopped_epoch = 0; self.best = np.inf
    def on_epoch_end(self, epoch, logs=None):
        current = logs.get("loss")
        if np.less(current, self.best):
            self.best = current; self.wait = 0; self.best_weights = self.model.get_weights()
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = epoch; self.model.stop_training = True
                print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)
    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0: print(f"Epoch {self.stopped_epoch + 1}: early stopping")
class LossAndErrorPrintingCallback(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print("Up to batch {}, the average loss is {:7.2f}.".format(batch, logs["loss"]))
    def on_epoch_end(self, epoch, logs=None):
        print("The average loss for epoch {} is {:7.2f} and mean absolute error is {:7.2f}.".format(epoch, logs["loss"], logs["mean_absolute_error"]))
model = get_model()
model.fit(x, y, batch_size=64, epochs=30, verbose=0, callbacks=[LossAndErrorPrintingCallback(), EarlyStoppingAtMinLoss()])
class CustomLearningRateScheduler(keras.callbacks.Callback):
    def __init__(self, schedule):
        super().__init__(); self.schedule = schedule
    def on_epoch_begin(self, epoch, logs=None):
        if not hasattr(self.model.optimizer, "learning_rate"):
            raise ValueError('Optimizer must have a "learning_rate" attribute.')
        lr = self.model.optimizer.learning_rate
        scheduled_lr = self.schedule(epoch, float(lr))
        self.model.optimizer.learning_rate = scheduled_lr
        print(f"\nEpoch {epoch}: Learning rate is {float(np.array(scheduled_lr))}.")
LR = [(1, 0.05), (2, 0.01)]
def lr_schedule(epoch, lr):
    for e, r in LR:
        if epoch == e: return r
    return lr
model = get_model()
model.fit(x, y, batch_size=64, epochs=4, verbose=0, callbacks=[CustomLearningRateScheduler(lr_schedule),
   keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, verbose=1, min_delta=10),
   keras.callbacks.LearningRateScheduler(lambda e, lr: lr * 0.9, verbose=1), keras.callbacks.CSVLogger("log.csv"),
   keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, sorted(logs)))])
print(open("log.csv").read().split("\n")[0])
model.fit(x, y, epochs=20, verbose=0, validation_split=0.2, callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, restore_best_weights=True, verbose=1, start_from_epoch=1), keras.callbacks.TerminateOnNaN()])
h = model.fit(x, y * np.nan, epochs=3, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
print(h.history, h.epoch, h.params)
