"""Riemannian SGD and Adam: parameters of the ball move along geodesics, ordinary ones beside them as always."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ..errors import InputError
from .geometry import exp_map, gap, largest_radius, project, to_normal, transport
from .parameter import BallParameter, on_ball

__all__ = ["RiemannianAdam", "RiemannianSGD"]


class _OnTheBall:
    """What both optimisers share; goes before torch's own optimiser, whose step ordinary parameters take."""

    param_groups: list[dict[str, Any]]
    defaults: dict[str, Any]
    state: Any
    _ordinary_step: Callable[[], Any]

    def _limit(self, max_radius: float | None) -> None:
        """Settle the radius limit for all groups, and those to come."""
        self.defaults["max_radius"] = max_radius
        for group in self.param_groups:
            group.setdefault("max_radius", max_radius)
            self._check(group)

    def add_param_group(self, group: dict[str, Any]) -> None:
        """As in torch; a parameter on a manifold that is not known here is refused."""
        super().add_param_group(group)  # type: ignore[misc]
        self._check(self.param_groups[-1])

    @staticmethod
    def _check(group: dict[str, Any]) -> None:
        for parameter in group["params"]:
            if on_ball(parameter):
                largest_radius(parameter.dtype, group.get("max_radius"))

    @property
    def clamped(self) -> int:
        """How often a point was held back by the radius limit so far."""
        return sum(int(state["clamped"]) for state in self.state.values() if "clamped" in state)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step along the gradients."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        moving = [
            (parameter, parameter.grad, group)
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None and on_ball(parameter)
        ]
        with torch.no_grad():
            for parameter, gradient, group in moving:
                parameter.grad = None  # a parameter without a gradient takes no ordinary step
                self._move(parameter, gradient, group)
            self._ordinary_step()
        for parameter, gradient, _ in moving:
            parameter.grad = gradient
        return loss

    def _move(self, parameter: Any, gradient: Tensor, group: dict[str, Any]) -> None:
        """Move the rows that have a gradient: all, or those of a sparse one, whose state rests meanwhile."""
        rows: Any = slice(None)
        if gradient.is_sparse:
            gradient = gradient.coalesce()
            rows, gradient = gradient.indices()[0], gradient.values()
        x, state = parameter[rows], self.state[parameter]
        self._prepare(parameter, state, group)
        a = gap(x)
        gradient = 0.25 * a * a * gradient
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * 0.5 * a * to_normal(x)
        velocity, moment = self._velocity(x, gradient, rows, state, group)
        new = exp_map(x, -group["lr"] * velocity)
        # A group that was loaded from an optimiser of torch has no limit of its own.
        limit = largest_radius(x.dtype, group.get("max_radius", self.defaults["max_radius"]))
        # A point that stays where it is may lie beyond the limit: it was put there by something else.
        still = (new == x).all(-1, keepdim=True)
        new, clamped = project(torch.where(still, torch.zeros_like(new), new), limit)
        new = torch.where(still, x, new)
        state["clamped"] += clamped
        if moment is not None:
            state[self._moment][rows] = transport(x, new, moment)
        parameter[rows] = new

    # ---- what differs ----

    _moment: str

    def _prepare(self, parameter: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Add to the state of a parameter of the ball what it lacks."""
        if "clamped" not in state:
            state["clamped"] = torch.zeros((), dtype=torch.float64, device=parameter.device)

    def _velocity(
        self, x: Tensor, gradient: Tensor, rows: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> tuple[Tensor, Tensor | None]:
        """What to walk along, backwards and times lr, and the tangent vectors to take along, if any."""
        raise NotImplementedError


class RiemannianSGD(_OnTheBall, torch.optim.SGD):  # type: ignore[misc]  # torch is not followed
    """SGD for parameters of the ball and ordinary ones together.

    Ordinary parameters take the step of `torch.optim.SGD`. A point x of the ball walks along the geodesic of its
    Riemannian gradient, (1 - |x|²)²/4 times the ordinary one, so that `lr` is in hyperbolic units; momentum is carried
    along by parallel transport; weight decay pulls towards the origin in proportion to the hyperbolic radius.

    Parameters
    ----------
    params, lr, momentum, dampening, weight_decay, nesterov
        As in `torch.optim.SGD`.
    max_radius
        Points are held within this hyperbolic radius, by default what their dtype carries (30 in float64, 9.9 in
        float32); `clamped` counts how often that happened. Groups may have their own.
    """

    _ordinary_step = inspect.unwrap(torch.optim.SGD.step)  # bare: the hooks around a step belong to ours
    _moment = "momentum_buffer"

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        max_radius: float | None = None,
    ) -> None:
        super().__init__(params, lr, momentum, dampening, weight_decay, nesterov)
        self._limit(max_radius)

    def _prepare(self, parameter: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._prepare(parameter, state, group)
        if group["momentum"] and "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(parameter)

    def _velocity(
        self, x: Tensor, gradient: Tensor, rows: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> tuple[Tensor, Tensor | None]:
        if not group["momentum"]:
            return gradient, None
        buffer = state["momentum_buffer"][rows]
        moment = group["momentum"] * buffer + (1.0 - group["dampening"]) * gradient
        # As in torch, the first gradient is not damped. Each row has its own: a sparse gradient has some rows only.
        moment = torch.where((buffer == 0.0).all(-1, keepdim=True), gradient, moment)
        return gradient + group["momentum"] * moment if group["nesterov"] else moment, moment


class RiemannianAdam(_OnTheBall, torch.optim.Adam):  # type: ignore[misc]  # torch is not followed
    """Adam for parameters of the ball and ordinary ones together (Bécigneul & Ganea 2019).

    Ordinary parameters take the step of `torch.optim.Adam`. A point of the ball has one second moment, of the
    Riemannian length of its gradient, and its first moment is carried along by parallel transport: a step is about `lr`
    long in hyperbolic units.

    Parameters
    ----------
    params, lr, betas, eps, weight_decay, amsgrad
        As in `torch.optim.Adam`; for the ball, weight decay is that of `RiemannianSGD`.
    max_radius
        As in `RiemannianSGD`.
    """

    _ordinary_step = inspect.unwrap(torch.optim.Adam.step)
    _moment = "exp_avg"

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        max_radius: float | None = None,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad)
        self._limit(max_radius)

    def _prepare(self, parameter: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        super()._prepare(parameter, state, group)
        if "step" not in state:
            state["step"] = torch.zeros(())
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_avg_sq"] = torch.zeros_like(parameter[..., :1])
        if group["amsgrad"] and "max_exp_avg_sq" not in state:
            state["max_exp_avg_sq"] = torch.zeros_like(parameter[..., :1])

    def _velocity(
        self, x: Tensor, gradient: Tensor, rows: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> tuple[Tensor, Tensor | None]:
        state["step"] += 1
        (beta1, beta2), step = group["betas"], state["step"].item()
        length = 2.0 * torch.linalg.vector_norm(gradient, dim=-1, keepdim=True) / gap(x)
        first = beta1 * state["exp_avg"][rows] + (1.0 - beta1) * gradient
        second = beta2 * state["exp_avg_sq"][rows] + (1.0 - beta2) * length**2
        state["exp_avg_sq"][rows] = second
        if group["amsgrad"]:
            second = torch.maximum(state["max_exp_avg_sq"][rows], second)
            state["max_exp_avg_sq"][rows] = second
        scale = torch.sqrt(second / (1.0 - beta2**step)) + group["eps"]
        return first / (scale * (1.0 - beta1**step)), first


def _refuse_other_steps(optimizer: Any, *_: Any) -> None:
    """Before every step of every optimiser: points of the ball are moved by those that know it alone."""
    if isinstance(optimizer, _OnTheBall):
        return
    for group in optimizer.param_groups:
        if any(isinstance(parameter, BallParameter) and parameter.grad is not None for parameter in group["params"]):
            raise InputError(
                f"{type(optimizer).__name__} takes points of the ball for ordinary numbers, and would train in another "
                "geometry or leave the ball: take RiemannianAdam or RiemannianSGD of treeball.torch"
            )


register_optimizer_step_pre_hook(_refuse_other_steps)
