"""Rows of argument_cases.py: making, shaping and indexing tensors; control flow; structures; checks."""


def _scattered(tf, np, name, **extra):
    return getattr(tf, name)(tf.zeros([4]), [[1], [7]], tf.constant([1.0, 2.0]), **extra)


def _raised(tf, np, function, *arguments, **extra):
    """Whether a check passes."""
    function(*arguments, **extra)
    return "passed"


HELPERS = {"scattered": _scattered, "passes": _raised}


def _made():
    for name in "add sub update max min".split():
        policy = "" if name == "update" else " ; bad_indices_policy='IGNORE' ; @ indices=[[1], [9]], " \
                                             "bad_indices_policy='IGNORE' ; bad_indices_policy='ERROR'"
        yield f"tensor_scatter_nd_{name} | tensor=V, indices=[[2], [0]], updates=[5.0, -7.0] | indices=[[1], [1]] ; " \
              f"indices=[[1], [9]] ; updates=[5, 7] ; @ tensor=F, indices=[[1]], updates=[V]{policy}"
    for name in "equal greater greater_equal less less_equal none_equal".split():
        x = {"equal": "F", "none_equal": "G"}.get(name, "F - 9.0" if name.startswith("less") else "F + 9.0")
        for prefix in ["debugging."]:
            yield f"{prefix}assert_{name} | x={x}, y=F |"
            yield f"{prefix}assert_{name} | x={'F' if name == 'none_equal' else 'G'}, y=F |"
    for name, good, bad in [("positive", "U", "F"), ("negative", "-U", "F"), ("non_negative", "U", "F"),
                            ("non_positive", "-U", "F")]:
        for x in (good, bad):
            yield f"debugging.assert_{name} | x={x} |"


ROWS = "\n".join(_made()) + """
debugging.assert_near | x=F, y=F + 1e-7 |
debugging.assert_near | x=F, y=F + 0.01 | atol=0.1 ; rtol=0.1 ; rtol=1e-9 ; atol=1e-9 ; @ rtol=0.5, atol=0.5
debugging.assert_all_finite | x=F, message='words' | x=[1.0, np.nan] ; x=[np.inf]
debugging.check_numerics | tensor=F, message='words' | tensor=[1.0, np.nan]
debugging.assert_integer | x=I | x=F
debugging.assert_proper_iterable | values=[1, 2] | values=5 ; values=F
debugging.assert_rank | x=F, rank=2 | rank=1 ; rank=3
debugging.assert_rank_at_least | x=F, rank=1 | rank=3
debugging.assert_rank_in | x=F, ranks=[1, 2] | ranks=[0, 1]
debugging.assert_same_float_dtype | | tensors=[F, G] ; tensors=[F, FD] ; @ tensors=[F], dtype=tf.float64 ; dtype=tf.float64 ; dtype=tf.int32
debugging.assert_scalar | tensor=3.0 | tensor=F
debugging.assert_shapes | shapes=[(F, ('a', 3)), (V, (3,))] | shapes=[(F, ('a', 4))] ; data=['more'] ; summarize=1 ; message='words' ; shapes=[(F, ('a', 'a'))] ; shapes={}
debugging.assert_type | tensor=F, tf_type=tf.float32 | tf_type=tf.int32
debugging.is_numeric_tensor | tensor=F | tensor=B ; tensor=3
debugging.Assert | condition=True, data=['never'] | condition=False ; summarize=1 ; @ condition=False, data=[F, I], summarize=1
nest.assert_same_structure | nest1=[1, (2, 3)], nest2=[4, (5, 6)] | nest2=[4, [5, 6]] ; @ nest2=[4, [5, 6]], check_types=False ; nest2=[4] ; expand_composites=True ; @ nest1=[R], nest2=[R], expand_composites=True
nest.flatten | structure={'b': [1, 2], 'a': (3,)} | expand_composites=True ; @ structure=[R, 3], expand_composites=True ; @ structure=[S], expand_composites=True ; structure=[R]
nest.is_nested | seq=[1] | seq=1 ; seq={}
nest.pack_sequence_as | structure=[1, (2, 3)], flat_sequence=[4, 5, 6] | flat_sequence=[4, 5] ; expand_composites=True ; @ structure=[R], flat_sequence=tf.nest.flatten([R], expand_composites=True), expand_composites=True
nest.map_structure | lambda a, b: a + b, [1, (2,)], [3, (4,)] | check_types=False ; expand_composites=True ; other=1
nest.map_structure | lambda a, b: a + b, [1, (2,)], [3, [4]] | check_types=False
nest.map_structure | lambda a: a + 1.0, [R] | expand_composites=True
constant | value=[1, 2, 3] | dtype=tf.float32 ; shape=[3, 1] ; @ value=7, shape=[2, 2] ; @ value=[1.5], dtype=tf.float64, shape=[3] ; shape=[4] ; name='given' ; @ value=1.5, dtype=tf.int32
convert_to_tensor | value=[1, 2] | dtype=tf.float64 ; dtype_hint=tf.float32 ; @ dtype=tf.int64, dtype_hint=tf.float32 ; @ value=[1.5], dtype_hint=tf.int32 ; @ value=F, dtype=tf.float64 ; @ value=F, dtype_hint=tf.float64
zeros | shape=[2, 1] | dtype=tf.int32 ; dtype=tf.bool ; shape=[] ; shape=3 ; shape=tf.constant([1, 2])
ones | shape=[2, 1] | dtype=tf.int32 ; dtype=tf.bool ; shape=[]
zeros_like | input=F | dtype=tf.int32 ; dtype=tf.bool ; input=[1, 2]
ones_like | input=F | dtype=tf.int32 ; dtype=tf.bool ; input=[1, 2]
fill | dims=[2, 2], value=3.5 | value=True ; value=7 ; dims=[] ; value=V
range | start=5 | start=5.0 ; limit=9 ; @ limit=0, delta=-2 ; dtype=tf.float32 ; dtype=tf.int64 ; @ start=1.0, limit=2.0, delta=0.25 ; @ limit=9, delta=0 ; @ start=0.1, limit=1.1, delta=0.1 ; @ start=1, limit=8.5 ; @ limit=9, dtype=tf.float64, delta=1.5
linspace | start=1.0, stop=2.0, num=5 | num=1 ; axis=-1 ; @ start=[0.0, 1.0], stop=[2.0, 5.0], axis=0 ; @ start=[0.0, 1.0], stop=[2.0, 5.0], axis=1 ; @ start=[0.0, 1.0], stop=[2.0, 5.0], axis=-1 ; num=0 ; @ start=1, stop=4 ; @ start=tf.constant(1.0, tf.float64), stop=2.0
one_hot | indices=[0, 2, -1], depth=3 | on_value=5 ; off_value=2.0 ; @ on_value=5, off_value=-1 ; axis=0 ; axis=-1 ; axis=1 ; dtype=tf.int32 ; @ on_value=True, off_value=False ; @ on_value=5.0, off_value=1.0, dtype=tf.float64 ; @ indices=I, axis=1 ; dtype=tf.bool
sequence_mask | lengths=[1, 3, 0] | maxlen=5 ; maxlen=2 ; dtype=tf.float32 ; dtype=tf.int32 ; @ lengths=[[1], [2]], maxlen=4
meshgrid | [1, 2], [3, 4, 5] | indexing='ij' ; indexing='ab' ; name='given' ; other=3
meshgrid | [1.0, 2.0] | indexing='ij'
shape | input=P | out_type=tf.int64 ; out_type=tf.int32
size | input=P | out_type=tf.int64
rank | input=P |
shape_n | input=[F, V] | out_type=tf.int64
reshape | tensor=F, shape=[3, 2] | shape=[-1] ; shape=[3, -1] ; shape=[4] ; shape=tf.constant([6, 1], tf.int64)
broadcast_to | input=V, shape=[2, 3] | shape=[3, 2] ; shape=tf.constant([2, 1, 3])
broadcast_dynamic_shape | shape_x=[1, 3], shape_y=[2, 1] | shape_y=[2, 2]
broadcast_static_shape | shape_x=tf.TensorShape([1, 3]), shape_y=tf.TensorShape([2, 1]) | shape_y=tf.TensorShape([2, 2])
transpose | a=P | perm=[1, 0, 2] ; perm=[2, 0, 1] ; conjugate=True ; @ a=C, conjugate=True ; @ a=C, perm=[0, 1], conjugate=True ; perm=[0, 1]
expand_dims | input=F, axis=0 | axis=-1 ; axis=2 ; axis=-3 ; axis=4
squeeze | input=tf.reshape(F, [1, 2, 1, 3]) | axis=0 ; axis=[2] ; axis=[0, 2] ; axis=-2 ; axis=1 ; axis=[]
concat | values=[F, G], axis=0 | axis=1 ; axis=-2 ; axis=2 ; values=[F] ; values=[F, V] ; values=[F, I] ; values=(I[0], [5])
stack | values=[F, G] | axis=1 ; axis=-1 ; axis=3 ; values=[F, V]
unstack | value=F | num=2 ; @ axis=1, num=3 ; axis=1 ; axis=-2 ; num=3 ; axis=2
split | value=F, num_or_size_splits=2 | @ num_or_size_splits=3, axis=1 ; @ num_or_size_splits=[1, 2], axis=1 ; @ num_or_size_splits=[1, -1], axis=-1 ; num=2 ; @ num_or_size_splits=[1, 2], axis=1, num=2 ; @ num_or_size_splits=[1, 2], axis=1, num=5 ; num_or_size_splits=3
tile | input=F, multiples=[2, 1] | multiples=[1, 2] ; multiples=[2]
repeat | input=F, repeats=2 | axis=0 ; axis=1 ; @ repeats=[1, 2], axis=0 ; @ repeats=[1, 0, 2], axis=-1 ; repeats=[1, 2, 3, 4, 5, 6]
reverse | tensor=F, axis=[0] | axis=[1] ; axis=[-1, 0] ; axis=[] ; axis=[2]
reverse_sequence | input=F, seq_lengths=[2, 3], seq_axis=1 | batch_axis=0 ; @ seq_lengths=[1, 2, 2], seq_axis=0, batch_axis=1 ; seq_lengths=[2, 4] ; seq_axis=0
roll | input=F, shift=1, axis=0 | axis=1 ; @ shift=[1, -1], axis=[0, 1] ; shift=-4 ; @ shift=[1, 1], axis=[1, 1]
pad | tensor=F, paddings=[[1, 0], [0, 2]] | constant_values=9.0 ; mode='REFLECT' ; @ mode='REFLECT', constant_values=5.0 ; @ mode='SYMMETRIC', paddings=[[1, 1], [2, 0]] ; mode='symmetric' ; mode='EDGE' ; paddings=[[1, 0]] ; @ tensor=I, constant_values=7
bitcast | input=F, type=tf.int32 | type=tf.uint8 ; type=tf.float64
slice | input_=F, begin=[0, 1], size=[2, 1] | size=[-1, 2] ; begin=[1, 0] ; size=[2, 4]
strided_slice | input_=P, begin=[0, 0, 0], end=[2, 2, 3] | strides=[1, 1, 2] ; begin_mask=1 ; end_mask=4 ; @ end=[1, 1, 1], end_mask=2 ; ellipsis_mask=2 ; new_axis_mask=1 ; shrink_axis_mask=1 ; @ begin=[1, 1, 2], end=[0, 0, 0], strides=[-1, -1, -1] ; @ begin=[1, 1, 2], begin_mask=7 ; @ shrink_axis_mask=5
gather | params=F, indices=[1, 0, 1] | axis=1 ; axis=-1 ; @ axis=1, batch_dims=1, indices=[[0], [2]] ; @ batch_dims=1, indices=[[0], [2]] ; validate_indices=True ; @ axis=0, validate_indices=False ; indices=[2] ; indices=[-1]
gather_nd | params=P, indices=[[0, 1], [1, 0]] | @ indices=[[[1]], [[0]]], batch_dims=1 ; indices=[[0, 1, 2]] ; indices=[[2, 0]] ; @ indices=[[2, 0], [0, 0]], bad_indices_policy='IGNORE' ; bad_indices_policy='ERROR'
scatter_nd | indices=[[1], [3]], updates=[5.0, 6.0], shape=[4] | indices=[[1], [1]] ; shape=[5] ; indices=[[1], [9]] ; @ indices=[[1], [9]], bad_indices_policy='IGNORE' ; bad_indices_policy='ERROR'
boolean_mask | tensor=F, mask=[True, False] | @ mask=[True, False, True], axis=1 ; mask=B ; axis=0 ; @ tensor=P, mask=B, axis=1
unique | x=[3, 1, 3, 2] | out_idx=tf.int64 ; x=[1.5, 1.5]
unique_with_counts | x=[3, 1, 3, 2] | out_idx=tf.int64
unravel_index | indices=[5, 2], dims=[2, 3] | indices=4
dynamic_partition | data=F, partitions=[1, 0], num_partitions=2 | num_partitions=3 ; partitions=I % 2
dynamic_stitch | indices=[[0, 2], [1]], data=[[1.0, 2.0], [3.0]] | indices=[[0, 1], [1]]
identity | input=F |
identity_n | input=[F, I] |
stop_gradient | input=F |
ensure_shape | x=F, shape=[2, 3] | shape=[None, 3] ; shape=[3, 2]
tuple | tensors=[F, G] | control_inputs=[F]
edit_distance | hypothesis=tf.sparse.from_dense([['a', 'b', 'c']]), truth=tf.sparse.from_dense([['a', 'c', 'd', 'e']]) | normalize=False ; name='given'
space_to_batch | input=X2, block_shape=[2, 2], paddings=[[0, 0], [0, 0]] | paddings=[[1, 1], [0, 2]] ; block_shape=[1, 2]
space_to_batch_nd | input=X2, block_shape=[2, 2], paddings=[[0, 0], [0, 0]] | paddings=[[1, 1], [0, 2]] ; @ block_shape=[2], paddings=[[0, 0]]
batch_to_space | input=tf.tile(X2, [2, 1, 1, 1]), block_shape=[2, 2], crops=[[0, 0], [0, 0]] | crops=[[1, 0], [0, 2]] ; @ block_shape=[1, 2], crops=[[0, 1], [1, 1]]
as_string | input=[1.5, -2.25, 1e10] | precision=2 ; scientific=True ; shortest=True ; width=12 ; @ width=12, fill='0' ; @ precision=1, width=8, fill=' ' ; @ precision=3, scientific=True ; fill='0' ; @ width=12, fill='-'
as_string | input=[1, -23] | width=5 ; @ width=5, fill='0' ; precision=2 ; scientific=True ; shortest=True ; @ width=6, fill='-'
make_ndarray | tensor=tf.make_tensor_proto([1.0, 2.0]) |
get_static_value | tensor=F | partial=True ; tensor=3
is_tensor | x=F | x=3
as_dtype | type_value='float32' | type_value=np.int64 ; type_value=1
cond | pred=tf.constant(True), true_fn=lambda: F, false_fn=lambda: G | pred=False ; pred=tf.constant(False)
case | pred_fn_pairs=[(tf.constant(False), lambda: F), (tf.constant(True), lambda: G)] | default=lambda: F * 2.0 ; exclusive=True ; strict=True ; @ pred_fn_pairs=[(tf.constant(True), lambda: F), (tf.constant(True), lambda: G)], exclusive=True ; @ pred_fn_pairs=[(tf.constant(False), lambda: F)], default=lambda: G ; pred_fn_pairs=[(tf.constant(False), lambda: F)] ; name='given'
switch_case | branch_index=tf.constant(1), branch_fns=[lambda: F, lambda: G] | branch_index=tf.constant(7) ; @ branch_index=tf.constant(7), default=lambda: F * 3.0 ; @ branch_fns={0: lambda: F, 4: lambda: G}, branch_index=tf.constant(4) ; default=lambda: F ; name='given' ; branch_index=tf.constant(-1)
while_loop | cond=lambda i, x: i < 4, body=lambda i, x: (i + 1, x * 2.0), loop_vars=(tf.constant(0), V) | maximum_iterations=2 ; shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])) ; parallel_iterations=1 ; back_prop=False ; swap_memory=True ; maximum_iterations=0
map_fn | fn=lambda x: x * 2.0, elems=V | dtype=tf.float32 ; parallel_iterations=1 ; back_prop=False ; swap_memory=True ; infer_shape=False ; fn_output_signature=tf.float32 ; @ fn=lambda x: tf.cast(x, tf.int32), fn_output_signature=tf.int32 ; @ fn=lambda x: tf.cast(x, tf.int32) ; @ fn=lambda x: (x, x), dtype=(tf.float32, tf.float32) ; @ fn=lambda x: x[0] + x[1], elems=(V, V), fn_output_signature=tf.TensorSpec([], tf.float32)
foldl | fn=lambda a, x: a * 2.0 + x, elems=V | initializer=10.0 ; parallel_iterations=1 ; back_prop=False ; swap_memory=True
foldr | fn=lambda a, x: a * 2.0 + x, elems=V | initializer=10.0 ; parallel_iterations=1 ; back_prop=False ; swap_memory=True
scan | fn=lambda a, x: a * 2.0 + x, elems=V | initializer=10.0 ; reverse=True ; @ reverse=True, initializer=1.0 ; parallel_iterations=1 ; back_prop=False ; swap_memory=True ; infer_shape=False
vectorized_map | fn=lambda x: x * 2.0, elems=V | fallback_to_while_loop=False ; warn=False
numpy_function | func=lambda x: x + 1.0, inp=[F], Tout=tf.float32 | stateful=False ; Tout=[tf.float32]
py_function | func=lambda x: x + 1.0, inp=[F], Tout=tf.float32 | Tout=[tf.float32]
make_tensor_proto | values=[1.0, 2.0] | dtype=tf.float64 ; shape=[2, 1] ; @ values=[1.0], shape=[3] ; @ values=[1.0, 2.0], shape=[3] ; verify_shape=True ; @ verify_shape=True, shape=[2, 1] ; @ allow_broadcast=True, shape=[2] ; @ values=1.0, allow_broadcast=True, shape=[2, 2] ; values='a'
strings.format | template='a {} b', inputs=F | summarize=1 ; @ template='a % b', placeholder='%' ; summarize=-1 ; @ inputs=(F, 1), template='{} {}' ; inputs=tf.range(10)
constant_initializer.__call__: tf.constant_initializer(3.0) | shape=[2] | dtype=tf.float64 ; dtype=tf.int32 ; partition_shape=[1]
constant_initializer.__call__: tf.constant_initializer(value=[1.0, 2.0]) | shape=[2] | shape=[2, 2]
constant_initializer.__call__: tf.constant_initializer(value=3.0, support_partition=True) | shape=[2] | @ partition_shape=[1], partition_offset=[0] ; dtype=tf.float64
zeros_initializer.__call__: tf.zeros_initializer() | shape=[2] | dtype=tf.int32 ; dtype=tf.string ; partition_shape=[1] ; @ partition_shape=[1], partition_offset=[0] ; other=3
ones_initializer.__call__: tf.ones_initializer() | shape=[2] | dtype=tf.int32 ; partition_shape=[1] ; other=3
random_normal_initializer.__call__: tf.random_normal_initializer(mean=1.0, stddev=2.0, seed=3) | shape=[2] | dtype=tf.float64 ; dtype=tf.int32 ; @ partition_shape=[1], partition_offset=[0]
random_uniform_initializer.__call__: tf.random_uniform_initializer(minval=1.0, maxval=2.0, seed=3) | shape=[2] | dtype=tf.float64 ; dtype=tf.int32 ; dtype=tf.bool ; @ partition_shape=[1]
"""
