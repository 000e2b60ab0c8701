"""Typical mistakes with compiled, staged, checkpointed, exported and sharded programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import numlift as nl
import numlift.numpy as np
from numlift import ad_checkpoint, autostage, checkpoint_policies, export, lax, sharding
from numlift.experimental import checkify, serialize_executable

V = numpy.ones(3, numpy.float32)
M = numpy.ones((2, 3), numpy.float32)
N = numpy.arange(3)


def identity(x):
    return x


def scaled(x, n):
    return x * n


def compiled() -> Any:
    return nl.jit(lambda x: x + 1.0).lower(V).compile()


def donated() -> object:
    x = np.ones(3)
    nl.jit(lambda x: x + 1, donate_argnums=0)(x)
    return x + 1


def leak() -> object:
    kept = []
    nl.jit(lambda x: kept.append(np.sin(x)) or x)(1.0)
    return kept[0] + 1.0


def mesh(n: int = 2) -> nl.Mesh:
    return nl.make_mesh((n,), ("i",))


def auto_mesh() -> nl.Mesh:
    return nl.make_mesh((2,), ("i",), axis_types=(nl.AxisType.Auto,))


def devices_of_two() -> object:
    a = nl.device_put(V, nl.devices()[0])
    b = nl.device_put(V, nl.devices()[1])
    return nl.jit(lambda a, b: a + b)(a, b)


async def coroutine(x):
    return x


def loop_with_else(x):
    for _ in range(3):
        x = x + 1
    else:
        x = x * 2
    return x


def unequal_branches(x):
    if x > 0:
        y = x
    else:
        y = (x, x)
    return y


def undefined_name(x):
    if x > 0:
        y = x
    return y


def with_class_of_branches(x):
    while x < 3:
        x = np.stack([x, x])
    return x


def failing_check() -> object:
    def f(x):
        checkify.check(x > 0, "x must be positive, got {}", x)
        return np.sqrt(x)

    error, _ = checkify.checkify(f)(-1.0)
    return error.throw()


def unchecked_in_jit() -> object:
    def f(x):
        checkify.check(x > 0, "x must be positive, got {}", x)
        return np.sqrt(x)

    return nl.jit(f)(-1.0)


def exported(f: Callable[..., Any]) -> export.Exported:
    return export.export(nl.jit(f))(V)


def cut_off(data: bytes) -> bytes:
    """The start of a file. Its length is fixed: that of the whole depends on the machine."""
    assert len(data) > 150
    return data[:150]


def name_in_use() -> None:
    for cls in (type("First", (), {}), type("Second", (), {})):
        export.register_pytree_node_serialization(
            cls,
            serialized_name="golden.node",
            serialize_auxdata=lambda aux: b"",
            deserialize_auxdata=lambda data: None,
            from_children=lambda aux, children: None,
        )


MISUSES: dict[str, dict[str, Callable[[], Any]]] = {
    "jit": {
        "no function": lambda: nl.jit(3),
        "coroutine": lambda: nl.jit(coroutine),
        "text argument": lambda: nl.jit(identity)({"name": "text"}),
        "object argument": lambda: nl.jit(identity)(object()),
        "list of text": lambda: nl.jit(identity)([1.0, ["a"]]),
        "text result": lambda: nl.jit(lambda x: {"a": "text"})(1.0),
        "too few arguments": lambda: nl.jit(scaled)(1.0),
        "unknown keyword": lambda: nl.jit(scaled)(1.0, m=2.0),
        "unhashable static": lambda: nl.jit(scaled, static_argnums=1)(1.0, [1]),
        "array as static": lambda: nl.jit(scaled, static_argnums=1)(1.0, V),
        "unhashable static name": lambda: nl.jit(scaled, static_argnames="n")(1.0, n={}),
        "static_argnums out of range": lambda: nl.jit(identity, static_argnums=2),
        "static_argnums: text": lambda: nl.jit(identity, static_argnums="x"),
        "static_argnames unknown": lambda: nl.jit(identity, static_argnames="y"),
        "static_argnames: numbers": lambda: nl.jit(identity, static_argnames=0),
        "donated and used": donated,
        "donate_argnums out of range": lambda: nl.jit(identity, donate_argnums=1),
        "donate_argnames unknown": lambda: nl.jit(identity, donate_argnames="y"),
        "donated and static": lambda: nl.jit(scaled, static_argnums=1, donate_argnums=1),
        "device and backend": lambda: nl.jit(identity, device=nl.devices()[0], backend="cpu"),
        "backend unknown": lambda: nl.jit(identity, backend="abacus"),
        "in_shardings: structure": lambda: nl.jit(
            identity, in_shardings=(nl.P(), nl.P())
        )(V),
        "in_shardings: no mesh": lambda: nl.jit(identity, in_shardings=nl.P("i"))(V),
        "in_shardings: size": lambda: nl.jit(
            identity, in_shardings=nl.NamedSharding(mesh(), nl.P("i"))
        )(V),
        "in_shardings: text": lambda: nl.jit(identity, in_shardings="cpu")(V),
        "out_shardings: structure": lambda: nl.jit(
            identity, out_shardings=(nl.NamedSharding(mesh(), nl.P()),) * 2
        )(V),
        "out_shardings: size": lambda: nl.jit(
            identity, out_shardings=nl.NamedSharding(mesh(), nl.P("i"))
        )(V),
        "devices of arguments": devices_of_two,
        "compiler_options": lambda: nl.jit(identity, compiler_options={"xla_no_such": 1})(V),
        "if on a traced value": lambda: nl.jit(lambda x: 1.0 if x > 0 else 2.0)(1.0),
        "traced index of a list": lambda: nl.jit(lambda i: [1.0, 2.0][i])(0),
        "traced dict key": lambda: nl.jit(lambda i: {0: 1.0}[i])(0),
        "leak": leak,
    },
    "jit.lower": {
        "text argument": lambda: nl.jit(identity).lower("text"),
        "too few arguments": lambda: nl.jit(scaled).lower(1.0),
        "dialect": lambda: nl.jit(identity).lower(V).as_text("llvm"),
    },
    "jit.trace": {
        "text argument": lambda: nl.jit(identity).trace("text"),
        "static value missing": lambda: nl.jit(scaled, static_argnums=1).trace(1.0),
    },
    "stages.Compiled": {
        "shape": lambda: compiled()(M),
        "dtype": lambda: compiled()(N),
        "number of arguments": lambda: compiled()(V, V),
        "structure": lambda: compiled()({"x": V}),
        "traced argument": lambda: nl.jit(compiled())(V),
        "text": lambda: compiled()("text"),
    },
    "stages.Lowered": {
        "compiler_options": lambda: nl.jit(identity).lower(V).compile({"xla_no_such": "1"}),
    },
    "eval_shape": {
        "no function": lambda: nl.eval_shape(3.0),
        "text": lambda: nl.eval_shape(identity, "text"),
        "shapes": lambda: nl.eval_shape(lambda x, y: x @ y, V, M),
        "text result": lambda: nl.eval_shape(lambda x: "text", V),
    },
    "make_jaxpr": {
        "no function": lambda: nl.make_jaxpr(3.0),
        "text": lambda: nl.make_jaxpr(identity)("text"),
        "text result": lambda: nl.make_jaxpr(lambda x: "text")(V),
        "static value missing": lambda: nl.make_jaxpr(scaled, static_argnums=5)(1.0, 2),
    },
    "ShapeDtypeStruct": {
        "no dtype": lambda: nl.ShapeDtypeStruct((3,), None),
        "shape": lambda: nl.ShapeDtypeStruct((3.5,), "float32"),
        "one number": lambda: nl.ShapeDtypeStruct(3, "float32"),
        "as an array": lambda: np.sin(nl.ShapeDtypeStruct((3,), "float32")),
    },
    "checkpoint": {
        "no function": lambda: nl.checkpoint(3.0),
        "text": lambda: nl.checkpoint(identity)("text"),
        "text result": lambda: nl.checkpoint(lambda x: "text")(1.0),
        "static position": lambda: nl.checkpoint(identity, static_argnums=3),
        "if on a traced value": lambda: nl.checkpoint(lambda x: x if x > 0 else -x)(1.0),
        "policy is no function": lambda: nl.checkpoint(identity, policy="dots"),
    },
    "ad_checkpoint.checkpoint_name": {
        "text": lambda: ad_checkpoint.checkpoint_name("text", "name"),
        "name is no text": lambda: ad_checkpoint.checkpoint_name(V, 3),
    },
    "ad_checkpoint.saved_residuals": {
        "text": lambda: ad_checkpoint.saved_residuals(np.sin, "text"),
    },
    "ad_checkpoint.print_saved_residuals": {
        "text": lambda: ad_checkpoint.print_saved_residuals(np.sin, "text"),
    },
    "checkpoint_policies.save_only_these_names": {
        "a list": lambda: checkpoint_policies.save_only_these_names(["a", "b"]),
    },
    "checkpoint_policies.save_any_names_but_these": {
        "a number": lambda: checkpoint_policies.save_any_names_but_these(3),
    },
    "checkpoint_policies.save_anything_except_these_names": {
        "a list": lambda: checkpoint_policies.save_anything_except_these_names(["a", "b"]),
    },
    "checkpoint_policies.save_from_both_policies": {
        "a name": lambda: checkpoint_policies.save_from_both_policies(
            "a", checkpoint_policies.dots_saveable
        ),
    },
    "checkpoint_policies.save_and_offload_only_these_names": {
        "text": lambda: checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved="abc",
            names_which_can_be_offloaded=[],
            offload_src="device",
            offload_dst="pinned_host",
        ),
    },
    "autostage.autostage": {
        "no function": lambda: autostage.autostage(3.0),
        "built-in": lambda: autostage.autostage(len),
        "structures of branches": lambda: nl.jit(unequal_branches, autostage=True)(1.0),
        "name of one branch": lambda: nl.jit(undefined_name, autostage=True)(1.0),
        "carry changes": lambda: nl.jit(with_class_of_branches, autostage=True)(1.0),
    },
    "export.export": {
        "not jitted": lambda: export.export(identity),
        "platform": lambda: export.export(nl.jit(identity), platforms=["abacus"]),
        "text": lambda: export.export(nl.jit(identity))("text"),
        "callback": lambda: export.export(
            nl.jit(lambda x: nl.pure_callback(numpy.sin, nl.ShapeDtypeStruct((3,), "f4"), x))
        )(V),
    },
    "export.Exported": {
        "shape": lambda: export.export(nl.jit(identity))(V).call(M),
        "dtype": lambda: export.export(nl.jit(identity))(V).call(N),
        "number of arguments": lambda: export.export(nl.jit(identity))(V).call(V, V),
        "platform": lambda: export.export(nl.jit(identity), platforms=["tpu"])(V).call(V),
        "no gradient kept": lambda: nl.grad(
            lambda x: np.sum(export.deserialize(exported(np.sin).serialize()).call(x))
        )(V),
    },
    "export.deserialize": {
        "text": lambda: export.deserialize("text"),
        "other bytes": lambda: export.deserialize(b"PK no export"),
        "start of a file": lambda: export.deserialize(
            cut_off(export.export(nl.jit(identity))(V).serialize())
        ),
    },
    "export.register_namedtuple_serialization": {
        "no namedtuple": lambda: export.register_namedtuple_serialization(
            dict, serialized_name="my.dict"
        ),
    },
    "export.symbolic_shape": {
        "expression": lambda: export.symbolic_shape("a b +"),
        "no text": lambda: export.symbolic_shape(3),
    },
    "export.symbolic_args_specs": {
        "number of sizes": lambda: export.symbolic_args_specs((V,), "a, b"),
    },
    "export.SymbolicScope": {
        "constraint": lambda: export.SymbolicScope(["a >"]),
        "one text": lambda: export.SymbolicScope("a"),
    },
    "new_ref": {"text": lambda: nl.new_ref("text")},
    "freeze": {"no ref": lambda: nl.freeze(3.0)},
    "export.register_pytree_node_serialization": {"name in use": name_in_use},
    "experimental.serialize_executable.serialize": {
        "not compiled": lambda: serialize_executable.serialize(nl.jit(identity)),
        "lowered": lambda: serialize_executable.serialize(nl.jit(identity).lower(V)),
    },
    "experimental.serialize_executable.deserialize_and_load": {
        "other bytes": lambda: serialize_executable.deserialize_and_load(b"text", None, None),
        "start of a file": lambda: serialize_executable.deserialize_and_load(
            cut_off(serialize_executable.serialize(compiled())[0]), None, None
        ),
    },
    "experimental.checkify.checkify": {
        "no function": lambda: checkify.checkify(3.0),
        "errors": lambda: checkify.checkify(identity, errors="nan"),
        "text": lambda: checkify.checkify(identity)("text"),
        "failed check": failing_check,
    },
    "experimental.checkify.check": {
        "predicate": lambda: checkify.check(V > 0, "positive"),
        "number": lambda: checkify.check(1.0, "positive"),
        "message": lambda: checkify.check(True, 3),
        "missing argument": lambda: checkify.check(True, "got {} and {}", 1),
        "failed": lambda: checkify.check(False, "got {x}", x=3),
        "inside jit": unchecked_in_jit,
    },
    "experimental.checkify.debug_check": {
        "predicate": lambda: checkify.debug_check(V > 0, "positive"),
    },
    "experimental.checkify.check_error": {
        "no error value": lambda: checkify.check_error(3),
    },
    "make_mesh": {
        "too many devices": lambda: nl.make_mesh((64,), ("i",)),
        "number of names": lambda: nl.make_mesh((2, 2), ("i",)),
        "name twice": lambda: nl.make_mesh((2, 2), ("i", "i")),
        "axis_types": lambda: nl.make_mesh((2,), ("i",), axis_types=(nl.AxisType.Auto,) * 2),
        "negative": lambda: nl.make_mesh((-2,), ("i",)),
    },
    "Mesh": {
        "shape": lambda: nl.Mesh(numpy.array(nl.devices()[:4]).reshape(2, 2), ("i",)),
        "device twice": lambda: nl.Mesh(numpy.array([nl.devices()[0]] * 2), ("i",)),
        "no devices": lambda: nl.Mesh(numpy.arange(2), ("i",)),
    },
    "NamedSharding": {
        "unknown axis": lambda: nl.NamedSharding(mesh(), nl.P("j")),
        "axis twice": lambda: nl.NamedSharding(mesh(), nl.P("i", "i")),
        "no mesh": lambda: nl.NamedSharding("i", nl.P("i")),
        "no spec": lambda: nl.NamedSharding(mesh(), "i"),
    },
    "PartitionSpec": {"number": lambda: nl.P(3)},
    "set_mesh": {"no mesh": lambda: nl.set_mesh("i")},
    "sharding.use_mesh": {"no mesh": lambda: sharding.use_mesh("i").__enter__()},
    "sharding.use_abstract_mesh": {
        "no mesh": lambda: sharding.use_abstract_mesh("i").__enter__()
    },
    "sharding.AbstractMesh": {
        "number of names": lambda: sharding.AbstractMesh((2, 2), ("i",)),
    },
    "sharding.make_single_device_sharding": {
        "no device": lambda: sharding.make_single_device_sharding("cpu"),
    },
    "sharding.auto_axes": {
        "no mesh": lambda: sharding.auto_axes(identity, out_sharding=nl.P())(V),
    },
    "sharding.explicit_axes": {
        "no mesh": lambda: sharding.explicit_axes(identity, in_sharding=nl.P())(V),
    },
    "sharding.SingleDeviceSharding": {
        "no device": lambda: sharding.SingleDeviceSharding("cpu"),
    },
    "with_sharding_constraint": {
        "no mesh": lambda: nl.with_sharding_constraint(V, nl.P("i")),
        "size": lambda: nl.with_sharding_constraint(V, nl.NamedSharding(auto_mesh(), nl.P("i"))),
        "too many entries": lambda: nl.with_sharding_constraint(
            V, nl.NamedSharding(auto_mesh(), nl.P(None, "i"))
        ),
        "structure": lambda: nl.with_sharding_constraint(
            {"a": V}, {"b": nl.NamedSharding(auto_mesh(), nl.P())}
        ),
        "text": lambda: nl.with_sharding_constraint(V, "i"),
    },
    "lax.with_sharding_constraint": {
        "no mesh": lambda: lax.with_sharding_constraint(V, nl.P("i")),
    },
    "reshard": {
        "no mesh": lambda: nl.reshard(V, nl.P("i")),
        "size": lambda: nl.reshard(V, nl.NamedSharding(mesh(), nl.P("i"))),
        "automatic axis": lambda: nl.reshard(V, nl.NamedSharding(auto_mesh(), nl.P("i"))),
        "text": lambda: nl.reshard(V, "i"),
    },
    "typeof": {"text": lambda: nl.typeof("text")},
    "device_put": {
        "text": lambda: nl.device_put("text"),
        "place": lambda: nl.device_put(V, "cpu"),
        "structure": lambda: nl.device_put({"a": V}, {"b": nl.devices()[0]}),
        "size": lambda: nl.device_put(V, nl.NamedSharding(mesh(), nl.P("i"))),
        "too many entries": lambda: nl.device_put(
            1.0, nl.NamedSharding(mesh(), nl.P("i"))
        ),
        "spec without a mesh": lambda: nl.device_put(V, nl.P("i")),
        "donated twice": lambda: nl.device_put(V, donate=True, may_alias=True),
    },
    "device_get": {
        "traced": lambda: nl.jit(nl.device_get)(V),
    },
    "make_array_from_callback": {
        "shape of a part": lambda: nl.make_array_from_callback(
            (4,), nl.NamedSharding(mesh(), nl.P("i")), lambda index: numpy.ones(3)
        ),
        "no sharding": lambda: nl.make_array_from_callback((4,), "cpu", lambda index: V),
    },
    "make_array_from_process_local_data": {
        "shape": lambda: nl.make_array_from_process_local_data(
            nl.NamedSharding(mesh(), nl.P("i")), numpy.ones(4), (6,)
        ),
    },
    "make_array_from_single_device_arrays": {
        "number": lambda: nl.make_array_from_single_device_arrays(
            (4,), nl.NamedSharding(mesh(), nl.P("i")), [np.ones(2)]
        ),
        "shape": lambda: nl.make_array_from_single_device_arrays(
            (4,), nl.NamedSharding(mesh(), nl.P()),
            [nl.device_put(V, d) for d in nl.devices()[:2]],
        ),
        "no arrays": lambda: nl.make_array_from_single_device_arrays(
            (4,), nl.NamedSharding(mesh(), nl.P("i")), [V, V]
        ),
    },
    "devices": {"platform": lambda: nl.devices("abacus")},
    "local_devices": {"platform": lambda: nl.local_devices(backend="abacus")},
    "device_count": {"platform": lambda: nl.device_count("abacus")},
    "local_device_count": {"platform": lambda: nl.local_device_count("abacus")},
    "live_arrays": {"platform": lambda: nl.live_arrays("abacus")},
    "named_call": {"no function": lambda: nl.named_call(3.0, name="layer")},
    "named_scope": {"no text": lambda: nl.named_scope(3).__enter__()},
    "ensure_compile_time_eval": {
        "traced value": lambda: nl.jit(compile_time)(1.0),
    },
}  # fmt: skip


def compile_time(x):
    with nl.ensure_compile_time_eval():
        return 1.0 if x > 0 else 2.0
