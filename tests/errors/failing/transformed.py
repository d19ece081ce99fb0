"""What vmap, grad and custom derivatives are given, and cannot take."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from errors.failing.registry import KEY, A, X, failing
from jax import lax

# Axes to map along.


@failing(X, A, case="vmap sizes", place="jax.vmap", culprits=["argument"], words=["in_axes=(0, None)"], mends=[0])
def a_vector_beside_a_matrix(x, a):
    return jax.vmap(lambda p, q: p * q.sum())(x, a.T)


@failing(A, case="vmap rank", place="jax.vmap", culprits=["argument"], words=["its axis 2", "in_axes=1)"], mends=[0])
def an_axis_beyond_the_last(a):
    return jax.vmap(jnp.sum, in_axes=2)(a)


@failing(X, case="vmap in_axes", place="jax.vmap", words=["3 for 2", "in_axes=(0, 0)"], mends=[0])
def more_axes_than_arguments(x):
    return jax.vmap(lambda p, q: p + q, in_axes=(0, 0, None))(x, x)


@failing({"a": X, "b": X}, case="vmap in_axes", place="jax.vmap", words=["`b`", "in_axes=0"], mends=[0])
def axes_of_another_tree(tree):
    return jax.vmap(lambda t: t["a"], in_axes=({"a": 0},))(tree)


@failing(X, case="vmap out_axes", place="jax.vmap", words=["out_axes=0"])
def a_result_for_each_that_is_said_to_be_one(x):
    return jax.vmap(lambda v: v * 2, out_axes=None)(x)


@failing(X, case="vmap nothing", place="jax.vmap", words=["`axis_size`"], mends=[0], gives=X * 2)
def nothing_to_map_over(x):
    return jax.vmap(lambda v: v * 2, in_axes=None)(x)


# Derivatives.


@failing({"w": X, "step": 3}, case="grad of integer", place="jax.grad", words=["`p['step']`", "allow_int=True"])
def a_derivative_by_a_count(p):
    return jax.grad(lambda q: jnp.sum(q["w"]) * q["step"])(p)


@failing(X, case="grad of integer", place="jax.grad", words=["gives int32"])
def a_derivative_of_a_count(x):
    return jax.grad(lambda v: jnp.sum(v > 0).astype(int))(x)


@failing(X, case="grad of complex", place="jax.grad", words=["complex64"], mends=[0])
def a_derivative_of_a_complex_number(x):
    return jax.grad(lambda v: jnp.sum(v * 1j))(x)


@failing(
    X, case="grad of while", place="while_loop", words=["jax.lax.scan", "length=100"], mends=[0, 1], gives=X * 0 + 2
)
def a_derivative_through_a_while(x):
    return jax.grad(lambda v: lax.while_loop(lambda c: c.sum() < 10, lambda c: c * 2, v).sum())(x)


@failing(X, case="auxiliary", place="jax.grad", words=["has_aux"])
def nothing_beside_the_loss(x):
    return jax.grad(lambda v: jnp.sum(v**2), has_aux=True)(x)


@failing(X, case="argnums", place="jax.grad", words=["no argument 1"])
def a_derivative_by_an_argument_that_is_not_there(x):
    return jax.grad(lambda v: jnp.sum(v), argnums=1)(x)


@failing(X, case="tangent", place="jax.jvp", words=["ones_like"])
def a_tangent_of_another_shape(x):
    return jax.jvp(jnp.sin, (x,), (jnp.ones(2),))


@failing(X, case="cotangent", place="back(jnp.ones(3))", words=["float32[3]", "float32[]"])
def a_way_back_with_another_shape(x):
    _, back = jax.vjp(jnp.sum, x)
    return back(jnp.ones(3))


@failing(X, case="callback derivative", place="pure_callback", words=["custom_jvp", "stop_gradient"])
def a_derivative_of_what_python_computes(x):
    return jax.grad(lambda v: jax.pure_callback(abs, jax.ShapeDtypeStruct(v.shape, v.dtype), v).sum())(x)


# Derivatives of the person's own.


@jax.custom_vjp
def alone(x):
    return x


alone.defvjp(lambda x: x, lambda residuals, cotangent: (cotangent,))


@failing(X, case="custom forward", place="alone", words=["`alone`", "lambda x: (x, x)"])
def a_forward_without_residuals(x):
    return jax.grad(lambda v: alone(v).sum())(x)


@jax.custom_vjp
def shorter(x):
    return x


shorter.defvjp(lambda x: (x, None), lambda residuals, cotangent: (cotangent[:1],))


@failing(X, case="custom backward type", place="jax.grad", words=["float32[1]", "float32[3]"])
def a_backward_of_another_shape(x):
    return jax.grad(lambda v: shorter(v).sum())(x)


@jax.custom_vjp
def untupled(x):
    return x


untupled.defvjp(lambda x: (x, None), lambda residuals, cotangent: cotangent)


@failing(X, case="custom backward", place="jax.grad", words=["not in a tuple"])
def a_backward_without_a_tuple(x):
    return jax.grad(lambda v: untupled(v).sum())(x)


@jax.custom_vjp
def unfinished(x):
    return x


@failing(X, case="custom rule missing", place="unfinished", words=["def unfinished(x):"])
def a_derivative_that_was_not_given(x):
    return jax.grad(lambda v: unfinished(v).sum())(x)


@failing(KEY, X, case="vmap rank", place="jax.vmap", words=["single key", "split(key, x.shape[0])"], mends=[0, 1])
def one_key_for_all_that_is_mapped(key, x):
    return jax.vmap(lambda k, one: one + jax.random.normal(k))(key, x)


@failing(jax.random.PRNGKey(0), X, case="vmap sizes", place="jax.vmap", words=["split(key, x.shape[0])"], mends=[0, 1])
def one_key_of_the_old_kind_for_all_that_is_mapped(key, x):
    return jax.vmap(lambda k, one: one + jax.random.normal(k))(key, x)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def scaled(x, n):
    return x * n


scaled.defvjp(lambda x, n: (x * n, None), lambda n, _, g: (g * n,))


@failing(X, 2, case="traced nondiff", place="scaled(x, n)", words=["`scaled`", "`static_argnums`"])
def a_count_that_is_traced_where_rules_get_it_as_it_is(x, n):
    return scaled(x, n)
