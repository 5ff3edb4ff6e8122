"""tf.train.ExponentialMovingAverage: averages of variables that follow them slowly."""


class ExponentialMovingAverage:
    """average = decay * average + (1 - decay) * variable, at each apply()."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages = {}  # by id: (variable, average, number of updates)

    name = property(lambda self: self._name)

    def apply(self, var_list=None):
        """Moves the averages of variables, made at their first values, one step."""
        import gradus as tf
        if var_list is None:
            raise ValueError("var_list must be given: there is no collection of all variables")
        decay = tf.convert_to_tensor(self._decay)
        if self._num_updates is not None:
            updates = tf.cast(self._num_updates, tf.float32)
            decay = tf.minimum(decay, (1.0 + updates) / (10.0 + updates))
        for variable in var_list:
            average, count = self._made(variable)
            rate = 1.0 - tf.cast(decay, variable.dtype)
            average.assign_sub(rate * (average - variable))
            count.assign_add(1.0)
        return tf.group()

    def _made(self, variable):
        import gradus as tf
        if id(variable) not in self._averages:
            with tf.init_scope():
                value = tf.convert_to_tensor(variable)
                start = tf.zeros_like(value) if self._debiases(variable) else value
                name = f"{variable.name.split(':')[0]}/{self._name}"
                self._averages[id(variable)] = variable, tf.Variable(start, trainable=False, name=name), tf.Variable(0.0, False)
        return self._averages[id(variable)][1:]

    def _debiases(self, var):
        """Averages of variables begin at their first values; those of tensors at zero, which can be taken out again."""
        import gradus as tf
        return self._zero_debias and not isinstance(var, tf.Variable)

    def average(self, var):
        """The average of a variable, or None if it has none."""
        found = self._averages.get(id(var))
        if found is None or not self._debiases(var):
            return found and found[1]
        return found[1] / (1.0 - self._decay ** found[2])

    def average_name(self, var):
        """The name that the average has."""
        return f"{var.name.split(':')[0]}/{self._name}"
