# ruff: noqa
import numpy as np
import tensorflow as tf
import keras
from keras import ops
@keras.saving.register_keras_serializable(package="MyLayers")
class CustomLayer(keras.layers.Layer):
    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs); self.factor = factor
    def call(self, x): return x * self.factor
    def get_config(self): return {**super().get_config(), "factor": self.factor}
@keras.saving.register_keras_serializable(package="my_package", name="custom_fn")
def custom_fn(x): return x ** 2
def create_model():
    inputs = keras.Input(shape=(4,))
    x = CustomLayer(0.5)(inputs)
    outputs = keras.layers.Dense(1, activation=custom_fn)(x)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer="rmsprop", loss="mean_squared_error")
    return model
x = np.random.RandomState(0).rand(10, 4); y = x.sum(1)
model = create_model(); model.fit(x, y, verbose=0)
model.save("custom_model.keras")
r = keras.models.load_model("custom_model.keras")
np.testing.assert_allclose(model.predict(x, verbose=0), r.predict(x, verbose=0), rtol=1e-5)
print(r.layers[1].factor, r.optimizer.iterations.numpy(), [v.path for v in r.optimizer.variables])
r.fit(x, y, verbose=0)
class Custom2(keras.layers.Layer):
    def __init__(self, sublayer, **kwargs):
        super().__init__(**kwargs); self.sublayer = sublayer
    def call(self, x): return self.sublayer(x)
    def get_config(self):
        return {**super().get_config(), "sublayer": keras.saving.serialize_keras_object(self.sublayer)}
    @classmethod
    def from_config(cls, config):
        sublayer = keras.saving.deserialize_keras_object(config.pop("sublayer"))
        return cls(sublayer, **config)
m = keras.Sequential([keras.Input((4,)), Custom2(keras.layers.Dense(2, name="inner"))])
m.save("c2.keras"); r = keras.models.load_model("c2.keras", custom_objects={"Custom2": Custom2}); print(np.allclose(m(x), r(x)), [w.path for w in r.weights])
config = m.get_config()
with keras.saving.custom_object_scope({"Custom2": Custom2}): print(keras.Sequential.from_config(config).count_params())
js = m.to_json(); print(len(keras.models.model_from_json(js, custom_objects={"Custom2": Custom2}).weights))
m.save_weights("model.weights.h5"); m2 = keras.models.clone_model(m, clone_function=lambda l: l.__class__.from_config(l.get_config())); m2.load_weights("model.weights.h5"); print(np.allclose(m(x), m2(x)))
class Old(keras.Model):
    def __init__(self, units=3, **kw):
        super().__init__(**kw); self.units = units; self.d = keras.layers.Dense(units)
    def call(self, x): return self.d(x)
    def get_config(self): return {"units": self.units}
o = Old(2); o(x); o.save("old.keras"); q = keras.models.load_model("old.keras", custom_objects={"Old": Old}); print(np.allclose(o(x), q(x)), q.units)
o.save_weights("o.weights.h5")
ck = tf.train.Checkpoint(model=o, step=tf.Variable(3)); mgr = tf.train.CheckpointManager(ck, "./ckpts", max_to_keep=2)
for i in range(3): ck.step.assign_add(1); p = mgr.save()
print(mgr.latest_checkpoint == p, len(mgr.checkpoints)); ck.step.assign(0); ck.restore(mgr.latest_checkpoint); print(ck.step.numpy())
layer = keras.layers.Dense(3, activation="relu", kernel_regularizer="l2"); c = keras.layers.serialize(layer); print(c["class_name"], c["config"]["kernel_regularizer"]); print(keras.layers.deserialize(c).units)
print(keras.losses.serialize(keras.losses.MeanSquaredError())); print(keras.optimizers.serialize(keras.optimizers.SGD(0.1))["config"]["learning_rate"]); print(keras.activations.serialize(keras.activations.relu), keras.initializers.get("he_normal").__class__.__name__)
print(keras.saving.get_registered_name(CustomLayer), keras.saving.get_registered_object("MyLayers>CustomLayer") is CustomLayer)
