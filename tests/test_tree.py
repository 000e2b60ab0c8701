"""Trees: flattening, mapping, paths, prefixes, registration, and messages that show the path."""

import collections
import copy
import dataclasses
import functools
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

from numlift import errors, tree


class Point(NamedTuple):
    x: Any
    y: Any


class Pair:
    def __init__(self, a, b, tag=None):
        self.a, self.b, self.tag = a, b, tag


tree.register_pytree_node(Pair, lambda p: ((p.a, p.b), p.tag), lambda tag, ab: Pair(*ab, tag))


@tree.register_dataclass
@dataclasses.dataclass(frozen=True)
class Layer:
    w: Any
    b: Any = None
    act: str = tree.static(default="relu")


@tree.register_pytree_with_keys_class
class Keyed:
    def __init__(self, u, v):
        self.u, self.v = u, v

    def tree_flatten_with_keys(self):
        return ((tree.GetAttrKey("u"), self.u), (tree.DictKey("v"), self.v)), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


TREES = [
    1, None, (), [], {}, (1,), [1, [2, (3, None)]], {"b": 1, "a": {"c": 2}}, Point(1, (2, 3)),
    collections.OrderedDict([("b", 1), ("a", 2)]), collections.defaultdict(int, {"b": 1, "a": 2}),
    collections.deque([1, 2, 3], maxlen=5), Layer(1, [2, 3]), {1: "x", 0: "y"},
]  # fmt: skip


@pytest.mark.parametrize("value", TREES, ids=repr)
def test_round_trip(value):
    leaves, treedef = tree.flatten(value)
    again = tree.unflatten(treedef, leaves)
    assert again == value
    assert type(again) is type(value)
    assert treedef == tree.structure(again)
    assert hash(treedef) == hash(tree.structure(again))
    assert tree.leaves(value) == leaves
    assert [x for _, x in tree.leaves_with_path(value)] == leaves
    assert pickle.loads(pickle.dumps(treedef)) == treedef
    assert copy.deepcopy(treedef) == treedef
    assert tree.map(lambda x: x, value) == value


def test_containers_of_the_standard_library():
    queue = tree.map(lambda x: x + 1, collections.deque([1, 2], maxlen=2))
    assert queue == collections.deque([2, 3])
    assert queue.maxlen == 2
    table = tree.map(str, collections.defaultdict(list, {"b": 1, "a": 2}))
    assert table["new"] == []
    assert tree.leaves(collections.defaultdict(int, {"b": 1, "a": 2})) == [2, 1]
    assert tree.leaves(collections.OrderedDict([("b", 1), ("a", 2)])) == [1, 2]
    assert tree.structure(collections.OrderedDict(a=1)) != tree.structure({"a": 1})


def test_is_leaf():
    def stop(x):
        return x is None or isinstance(x, list)

    assert tree.leaves((None, [1, 2]), is_leaf=stop) == [None, [1, 2]]
    assert tree.map(lambda x, y: (x, y), (None, 1), ([3], 4), is_leaf=stop) == (
        (None, [3]),
        (1, 4),
    )
    with pytest.raises(errors.ArgumentError, match="is_leaf must be callable"):
        tree.flatten([1], is_leaf=3)
    with pytest.raises(ZeroDivisionError):
        tree.flatten([1], is_leaf=lambda x: 1 / 0)


def test_map_over_several_trees():
    assert tree.map(lambda *xs: sum(xs), [1, (2,)], [10, (20,)], [100, (200,)]) == [111, (222,)]
    assert tree.map(lambda x, sub: (x, sub), [1, 2], [{"a": 1}, (3,)]) == [(1, {"a": 1}), (2, (3,))]


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [
        ([1, (2, 3)], [1, 2], r"tree\[1\] is a tuple of length 2, rest\[0\]\[1\] is a leaf"),
        ({"a": 1}, {"b": 1}, r"missing \['a'\], unexpected \['b'\]"),
        ({"a": [1]}, {"a": [1, 2]}, r"tree\['a'\] is a list of length 1, .* of length 2"),
        (Point(1, 2), (1, 2), "tree is a Point, .* is a tuple of length 2"),
        ((1, None), (1, 2), r"tree\[1\] is None, rest\[0\]\[1\] is a leaf"),
        (Layer(1, 2), Layer(1, 2, "tanh"), "static data .*relu.* static data .*tanh"),
    ],
)
def test_map_mismatch_shows_the_path(first, second, where):
    with pytest.raises(errors.TreeError, match=where) as caught:
        tree.map(lambda x, y: x, first, second)
    assert str(caught.value).startswith("tree_map: ")
    assert "Try: " in str(caught.value)
    with pytest.raises(errors.TreeError, match=where):
        tree.map_with_path(lambda p, x, y: x, first, second)


def test_unflatten_counts_leaves():
    treedef = tree.structure([1, 2])
    with pytest.raises(errors.TreeError, match="has 2 leaves, 1 are given"):
        tree.unflatten(treedef, [1])
    with pytest.raises(errors.TreeError, match="has 2 leaves, 3 are given"):
        tree.unflatten(treedef, iter([1, 2, 3]))
    assert tree.unflatten(treedef, iter("ab")) == ["a", "b"]


def test_unsortable_keys_show_the_path():
    for flatten in (tree.flatten, tree.flatten_with_path):
        with pytest.raises(errors.TreeError, match=r"dict at tree\['p'\]\[1\].*int, str"):
            flatten({"p": [0, {1: 1, "a": 2}]})


def test_reduce_and_all():
    assert tree.reduce(lambda a, b: a + b, [1, (2, {"x": 3})]) == 6
    assert tree.reduce(lambda a, b: a + b, [], 5) == 5
    assert tree.reduce(lambda a, b: (a, b), [1], None) == (None, 1)
    with pytest.raises(TypeError, match="no initializer"):
        tree.reduce(lambda a, b: a + b, [])
    joined = tree.reduce_associative(lambda a, b: a + b, list("abcdefg"), identity="")
    assert joined == "abcdefg"
    assert tree.reduce_associative(lambda a, b: a + b, (), identity=0) == 0
    with pytest.raises(errors.ArgumentError, match="no identity"):
        tree.reduce_associative(lambda a, b: a + b, ())
    assert tree.all({"a": True, "b": (1,)})
    assert not tree.all([True, 0])
    assert tree.all(())


def test_transpose():
    outer, inner = tree.structure((0, 0, 0)), tree.structure({"a": 0, "b": [0]})
    value = tuple({"a": i, "b": [10 * i]} for i in range(3))
    flipped = {"a": (0, 1, 2), "b": [(0, 10, 20)]}
    assert tree.transpose(outer, inner, value) == flipped
    assert tree.transpose(outer, None, value) == flipped
    with pytest.raises(errors.TreeError, match=r"\[2\].*missing \['a'\]"):
        tree.transpose(outer, inner, (*value[:2], {"b": [0]}))
    with pytest.raises(errors.TreeError, match="outer_treedef is a tuple of length 3"):
        tree.transpose(outer, None, [1, 2])
    with pytest.raises(errors.ValueArgumentError, match="must have leaves"):
        tree.transpose(tree.structure(()), inner, ())


def test_paths():
    value = {"a": [1, Point(2, Keyed(3, Layer(4, Pair(5, 6))))], "b": tree.Partial(max, 7, key=8)}
    texts = [tree.keystr(path) for path, _ in tree.leaves_with_path(value)]
    assert texts == [
        "['a'][0]", "['a'][1].x", "['a'][1].y.u", "['a'][1].y['v'].w",
        "['a'][1].y['v'].b[<flat index 0>]", "['a'][1].y['v'].b[<flat index 1>]",
        "['b'].args[0]", "['b'].keywords['key']",
    ]  # fmt: skip
    path = tree.leaves_with_path(value)[4][0]
    assert tree.keystr(path, simple=True, separator="/") == "a/1/y/v/b/0"
    assert tree.keystr(()) == ""
    assert tree.map_with_path(lambda p, x, y: (len(p), x + y), [1, [2]], [3, [4]]) == [
        (1, 4),
        [(2, 6)],
    ]
    shallow = tree.leaves_with_path(
        [1, [2]], is_leaf=lambda path, _: len(path) == 1, is_leaf_takes_path=True
    )
    assert [x for _, x in shallow] == [1, [2]]
    assert [x for _, x in tree.leaves_with_path([None, 1], lambda x: x is None)] == [None, 1]


def test_broadcast_and_prefixes():
    assert tree.broadcast({"a": 1, "b": None}, {"a": [1, 2], "b": None}) == {"a": [1, 1], "b": None}
    assert tree.broadcast(0, {"a": [1, 2]}) == {"a": [0, 0]}
    assert tree.broadcast_prefix((0, 1), ([5, 6], Layer(7))) == [0, 0, 1]
    full = (Layer(1, 2), Point(3, [4, 5]), collections.deque([6]), None, Pair(7, 8))
    same = tree.map(lambda x: -x, full)
    assert tree.broadcast_prefix(same, full) == [-i for i in range(1, 9)]
    assert tree.prefix_errors(same, tree.structure(full)) == []
    with pytest.raises(errors.TreeError, match=r"in_axes\[0\] is None, args\[0\] is a list"):
        tree.broadcast_prefix((None, 1), ([1], 2), None, "vmap", "in_axes", "args")
    assert len(tree.prefix_errors(([0], {"k": 0}), ((1,), {"j": 1}))) == 2


def test_flatten_axes():
    treedef = tree.structure(({"w": 1, "b": 2}, [3, 4]))
    assert tree.flatten_axes("vmap", treedef, 0) == [0, 0, 0, 0]
    assert tree.flatten_axes("vmap", treedef, None) == [None] * 4
    assert tree.flatten_axes("vmap", treedef, ({"w": 1, "b": None}, 0)) == [None, 1, 0, 0]
    with pytest.raises(errors.TreeError, match=r"in_axes is a tuple of length 3, args is a tuple"):
        tree.flatten_axes("vmap", treedef, (0, 0, 0))
    with pytest.raises(errors.TreeError, match=r"in_axes is a list of length 2"):
        tree.flatten_axes("vmap", treedef, [0, 0])


def test_explain_structure_mismatch():
    explain = tree.explain_structure_mismatch
    assert explain([1, {"a": 2}], [3, {"a": 4}], "a", "b") is None
    assert explain(tree.structure((1, 2)), (1, [2]), "in", "out") == (
        "in[1] is a leaf, out[1] is a list of length 1"
    )
    assert explain(None, 0, "in", "out") == "in is None, out is a leaf"
    assert explain(Layer(1), Layer((1,)), "in", "out") == (
        "in.w is a leaf, out.w is a tuple of length 1"
    )
    deep = explain(
        collections.OrderedDict(k=collections.defaultdict(int, z=Pair(1, 2))),
        collections.OrderedDict(k=collections.defaultdict(int, z=Pair(1, (2,)))),
        "in",
        "out",
    )
    assert deep == (
        "in['k']['z'][<flat index 1>] is a leaf, out['k']['z'][<flat index 1>] is a tuple of "
        "length 1"
    )


def test_register_dataclass_forms():
    @functools.partial(tree.register_dataclass, data_fields=["x"], meta_fields=["n"])
    @dataclasses.dataclass
    class A:
        x: Any
        n: int = 3

    @tree.register_dataclass(data_fields=["x"], meta_fields=[], drop_fields=["cache"])
    @dataclasses.dataclass
    class B:
        x: Any
        cache: Any = None
        derived: Any = dataclasses.field(init=False, default=1)

    class Plain:
        def __init__(self, x):
            self.x = x

    tree.register_dataclass(Plain, ["x"], [])
    assert tree.leaves(A((1, 2))) == [1, 2]
    assert tree.structure(A(1)) != tree.structure(A(1, 4))
    assert tree.map(lambda x: x + 1, B(1, cache="c")) == B(2)
    assert tree.map(lambda x: x + 1, Plain(1)).x == 2
    assert tree.leaves(Layer(1, act="tanh")) == [1]


def test_register_dataclass_mistakes():
    @dataclasses.dataclass
    class C:
        a: Any
        b: Any = 0

    with pytest.raises(TypeError, match="only data_fields is given"):
        tree.register_dataclass(C, ["a"])
    with pytest.raises(errors.TreeError, match=r"fields b of .* are missing"):
        tree.register_dataclass(C, ["a"], [])
    with pytest.raises(errors.TreeError, match=r"fields z of .* are no fields"):
        tree.register_dataclass(C, ["a", "z"], ["b"])
    with pytest.raises(errors.TreeError, match=r"fields a of .* in both"):
        tree.register_dataclass(C, ["a"], ["a", "b"])
    with pytest.raises(TypeError, match="Circle is no dataclass"):
        tree.register_dataclass(type("Circle", (), {}))


def test_registration_mistakes():
    with pytest.raises(errors.TreeError, match="Pair is a tree node already"):
        tree.register_pytree_node(Pair, lambda p: ((), None), lambda a, c: Pair(1, 2))
    for built_in in (dict, list, tuple, type(None), collections.deque):
        with pytest.raises(ValueError, match="already"):
            tree.register_static(built_in)
    with pytest.raises(TypeError, match="must be a class"):
        tree.register_pytree_node(Pair(1, 2), None, None)
    fresh = type("Fresh", (), {})
    with pytest.raises(TypeError, match="flatten_func must be callable"):
        tree.register_pytree_node(fresh, None, None)
    with pytest.raises(TypeError, match="no method tree_flatten, tree_unflatten"):
        tree.register_pytree_node_class(fresh)


def test_static_nodes():
    @tree.register_static
    @dataclasses.dataclass(frozen=True)
    class Options:
        n: int

    assert tree.leaves((Options(1), 2)) == [2]
    assert tree.structure(Options(1)) == tree.structure(Options(1))
    assert tree.structure(Options(1)) != tree.structure(Options(2))
    assert tree.map(lambda x: x, Options(3)) == Options(3)


def test_partial():
    def f(a, b, *, c=0):
        return a + b + c

    bound = tree.Partial(f, 1, c=3)
    assert bound(2) == 6
    assert tree.leaves(bound) == [1, 3]
    assert tree.map(lambda x: 10 * x, bound)(2) == 42
    assert tree.structure(bound) == tree.structure(tree.Partial(f, 5, c=6))
    assert tree.structure(bound) != tree.structure(tree.Partial(max, 5, c=6))
    nested = tree.Partial(bound, 2)
    assert tree.leaves(nested) == [1, 2, 3]
    assert nested() == 6
    hidden = tree.Partial(functools.partial(f, 1), 2)
    assert tree.leaves(hidden) == [2]
    assert hidden(c=4) == 7


def test_treedefs():
    treedef = tree.structure((1, [2, None]))
    assert tree.treedef_children(treedef) == [tree.structure(1), tree.structure([1, None])]
    assert tree.treedef_is_leaf(tree.structure(1))
    assert not tree.treedef_is_leaf(tree.structure(None))
    assert tree.treedef_tuple([tree.structure(1), treedef]) == tree.structure((0, (1, [2, None])))
    assert isinstance(treedef, tree.PyTreeDef)
    assert tree.all_leaves([1, np.zeros(2)])
    assert not tree.all_leaves([None])
    assert not tree.all_leaves([Pair(1, 2)])
    assert tree.all_leaves([None, (1,)], is_leaf=lambda x: x is None or isinstance(x, tuple))
    assert tree.is_leaf(1)
    assert not tree.is_leaf(None)
    assert tree.is_tree_node(Pair)
    assert tree.is_tree_node(Point)
    assert tree.is_tree_node(type(None))
    assert not tree.is_tree_node(int)


def test_treedef_tuple_of_no_structure():
    with pytest.raises(errors.ArgumentError, match="every item must be a structure"):
        tree.treedef_tuple([tree.structure(1), 2])


def test_keys():
    assert tree.DictKey("a") == tree.DictKey("a")
    assert hash(tree.SequenceKey(1)) == hash(tree.SequenceKey(1))
    assert tree.GetAttrKey("n").name == "n"
    assert tree.FlattenedIndexKey(2).key == 2
    match tree.DictKey("q"):
        case tree.DictKey(key):
            assert key == "q"


def test_subclasses_of_containers_are_leaves():
    class MyDict(dict):
        pass

    assert tree.is_leaf(MyDict(a=1))
    assert tree.raw_flatten((1,)) == tree.flatten((1,))
