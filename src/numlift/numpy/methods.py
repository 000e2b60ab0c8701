"""Installs operators, attributes and NumPy's methods on arrays and traced values."""

from __future__ import annotations

from ..core.refs import Ref
from ..core.tracing import Tracer, Value
from . import array_methods, at, operators, protocols, refs, tracers

operators.install(Value)
tracers.install(Tracer)
at.install(Value)
array_methods.install(Value)
protocols.install(Value)
refs.install(Ref)
