# ruff: noqa
import tensorflow as tf
from tensorflow.keras import layers, models, Input, Model
from tensorflow.keras.layers import Add, Conv2D, BatchNormalization, Activation, GlobalAveragePooling2D, Dense, MaxPooling2D, ZeroPadding2D
from tensorflow.keras.initializers import glorot_uniform
import numpy as np
def identity_block(X, f, filters, stage, block):
    conv_name_base = 'res' + str(stage) + block + '_branch'; bn_name_base = 'bn' + str(stage) + block + '_branch'
    F1, F2, F3 = filters
    X_shortcut = X
    X = Conv2D(filters=F1, kernel_size=(1, 1), strides=(1, 1), padding='valid', name=conv_name_base + '2a', kernel_initializer=glorot_uniform(seed=0))(X)
    X = BatchNormalization(axis=3, name=bn_name_base + '2a')(X)
    X = Activation('relu')(X)
    X = Conv2D(filters=F2, kernel_size=(f, f), strides=(1, 1), padding='same', name=conv_name_base + '2b', kernel_initializer=glorot_uniform(seed=0))(X)
    X = BatchNormalization(axis=3, name=bn_name_base + '2b')(X)
    X = Activation('relu')(X)
    X = Conv2D(filters=F3, kernel_size=(1, 1), strides=(1, 1), padding='valid', name=conv_name_base + '2c', kernel_initializer=glorot_uniform(seed=0))(X)
    X = BatchNormalization(axis=3, name=bn_name_base + '2c')(X)
    X = Add()([X, X_shortcut])
    return Activation('relu')(X)
def convolutional_block(X, f, filters, stage, block, s=2):
    cb = 'res' + str(stage) + block + '_branch'; bb = 'bn' + str(stage) + block + '_branch'
    F1, F2, F3 = filters
    X_shortcut = X
    X = Conv2D(F1, (1, 1), strides=(s, s), name=cb + '2a', kernel_initializer=glorot_uniform(seed=0))(X)
    X = BatchNormalization(axis=3, name=bb + '2a')(X)
    X = Activation('relu')(X)
    X = Conv2D(F2, (f, f), strides=(1, 1), padding='same', name=cb + '2b', kernel_initializer=glorot_uniform(seed=0))(X)
    X = BatchNormalization(axis=3, name=bb + '2b')(X)
    X = Activation('relu')(X)
    X = Conv2D(F3, (1, 1), name=cb + '2c')(X)
    X = BatchNormalization(axis=3, name=bb + '2c')(X)
    X_shortcut = Conv2D(F3, (1, 1), strides=(s, s), name=cb + '1')(X_shortcut)
    X_shortcut = BatchNormalization(axis=3, name=bb + '1')(X_shortcut)
    X = layers.add([X, X_shortcut])
    return Activation('relu')(X)
X_input = Input((32, 32, 3))
X = ZeroPadding2D((3, 3))(X_input)
X = Conv2D(8, (7, 7), strides=(2, 2), name='conv1')(X)
X = BatchNormalization(axis=3, name='bn_conv1')(X)
X = Activation('relu')(X)
X = MaxPooling2D((3, 3), strides=(2, 2))(X)
X = convolutional_block(X, 3, [4, 4, 16], 2, 'a', 1)
X = identity_block(X, 3, [4, 4, 16], 2, 'b')
X = GlobalAveragePooling2D()(X)
X = Dense(6, activation='softmax', name='fc6')(X)
model = Model(inputs=X_input, outputs=X, name='ResNetMini')
model.summary(line_length=110)
model.compile(optimizer=tf.keras.optimizers.legacy.Adam() if False else 'adam', loss='categorical_crossentropy', metrics=['accuracy', tf.keras.metrics.TopKCategoricalAccuracy(k=2)])
rng = np.random.RandomState(0)
h = model.fit(rng.rand(20, 32, 32, 3), np.eye(6)[rng.randint(0, 6, 20)], epochs=2, batch_size=10, verbose=0, shuffle=False)
print(h.history)
model.save('m.keras'); m2 = tf.keras.models.load_model('m.keras')
np.testing.assert_allclose(m2.predict(np.ones((1, 32, 32, 3)), verbose=0), model.predict(np.ones((1, 32, 32, 3)), verbose=0), rtol=1e-5)
j = model.to_json(); m3 = tf.keras.models.model_from_json(j); m3.set_weights(model.get_weights()); print(m3.count_params(), len(m3.layers), m3.get_layer('fc6').output.shape, m3.get_layer(index=3).name)
sub = Model(model.input, model.get_layer('res2a_branch2b').output); print(sub.output_shape, sub.predict(np.ones((2, 32, 32, 3)), verbose=0).shape)
