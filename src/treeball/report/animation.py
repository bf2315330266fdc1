"""A training as a moving picture, from its snapshots: the disk, the epoch, and the curves of loss and illness."""

from __future__ import annotations

import shutil
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..evaluation.illness import KINDS
from ..hierarchy import Hierarchy
from ..io.atomic import atomic_write
from .disk import Pen, draw_disk, group_legend, ill_legend
from .groups import Colouring
from .scene import Scene, scene_of
from .snapshots import Frames
from .style import ILL, INK, ORANGE, OTHER, SUBTREES, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

_DPI = 100
_SIDE, _COLUMN, _MARGIN, _TITLE = 5.6, 2.3, 0.16, 0.34  # inches
_LAST_SECONDS = 2.0
ENDINGS = (".gif", ".mp4")


def require_ending(path: Path) -> None:
    """Refuse what cannot be written, before the work."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"cannot animate to {str(path)!r}: an animation is a .gif or an .mp4 file")
    if ending == ".mp4" and shutil.which("ffmpeg") is None:
        raise InputError(
            f"writing {str(path)!r} needs the program ffmpeg: install it, or choose a name that ends in .gif"
        )


def animate(
    frames: Frames,
    hierarchy: Hierarchy,
    path: Path,
    *,
    title: str = "",
    focus: Hashable | None = None,
    depth: int | None = None,
    colouring: Colouring = "subtree",
    fps: float = 12.0,
) -> Path:
    """Write a training as a GIF or an MP4, by the ending of `path`; whole or not at all.

    Parameters
    ----------
    frames
        Snapshots that ``treeball fit --snapshots`` recorded, see :func:`treeball.report.snapshots.load_frames`.
    hierarchy
        What the model embeds.
    title
        Words above the picture.
    focus
        Node that stays in the centre of the disk.
    depth
        Show only so many levels below the focus, or below the root without one.
    colouring
        What colours stand for: the largest subtrees, or the depth.
    fps
        Frames per second.
    """
    require_ending(path)
    if not 0.1 <= fps <= 60:
        raise InputError(f"fps must be between 0.1 and 60 frames per second, not {fps:g}")
    options: dict[str, Any] = {"focus": focus, "depth": depth, "colouring": colouring}
    with style(), atomic_write(path) as temporary:
        pictures = (
            _picture(figure, frames, number, scene, title)
            for number, scene, figure in _scenes(frames, hierarchy, options)
        )
        if path.suffix.lower() == ".gif":
            _write_gif(pictures, temporary, fps)
        else:
            _write_mp4(pictures, temporary, fps)
    return path


def draw_frame(frames: Frames, number: int, hierarchy: Hierarchy, *, title: str = "", **options: Any) -> Figure:
    """One frame as a figure; options as for :func:`animate`."""
    with style():
        scene = _scene(frames, number, hierarchy, options)
        figure = _new_figure()
        _draw(figure, frames, number, scene, title)
    return figure


def _scenes(frames: Frames, hierarchy: Hierarchy, options: dict[str, Any]) -> Iterator[tuple[int, Scene, Figure]]:
    figure = _new_figure()
    for number in range(len(frames)):
        figure.clear()
        yield number, _scene(frames, number, hierarchy, options), figure


def _scene(frames: Frames, number: int, hierarchy: Hierarchy, options: dict[str, Any]) -> Scene:
    places = frames.places[number].astype(np.float64)
    return scene_of(hierarchy, places, frames.ill(number), flat=bool(frames.flat), **options)


def _new_figure() -> Figure:
    figure = new_figure(_SIDE + _COLUMN + 3 * _MARGIN, _SIDE + 2 * _MARGIN + _TITLE)
    figure.set_dpi(_DPI)
    return figure


# ---- one frame ----


def _picture(figure: Figure, frames: Frames, number: int, scene: Scene, title: str) -> Image:
    from PIL import Image

    _draw(figure, frames, number, scene, title)
    figure.canvas.draw()
    return Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy())  # type: ignore[attr-defined]


def _draw(figure: Figure, frames: Frames, number: int, scene: Scene, title: str) -> None:
    width, height = figure.get_size_inches()

    def box(x: float, y: float, w: float, h: float) -> Axes:
        return figure.add_axes((x / width, y / height, w / width, h / height))

    # The pen must not change its width from frame to frame: it is that of the frame with the most ill pairs.
    most_ill = int(np.diff(frames.ill_ptr).max())
    draw_disk(box(_MARGIN, _MARGIN, _SIDE, _SIDE), scene, Pen.for_disk(_SIDE, scene.nodes.size, most_ill))
    x = _SIDE + 2 * _MARGIN
    words = box(x, _MARGIN, _COLUMN, _SIDE)
    words.set_axis_off()
    ill_legend(words, scene, loc="upper left", bbox_to_anchor=(0.0, 0.985))
    group_legend(words, scene, loc="upper left", bbox_to_anchor=(0.0, 0.83))
    last = int(frames.epoch[-1])
    figure.text(_MARGIN / width, 1 - 0.14 / height, title, va="top", fontsize=11, fontweight="bold")
    figure.text(
        (x + _COLUMN) / width,
        1 - 0.14 / height,
        f"epoch {frames.epoch[number]:,} of {last:,}",
        va="top",
        ha="right",
        fontsize=11,
        color=INK,
    )
    figure.text(
        x / width,
        (_MARGIN + 0.02) / height,
        _below(frames),
        fontsize=7.5,
        color="#666666",
        va="bottom",
        linespacing=1.35,
    )
    _draw_illness(box(x + 0.3, 1.8, _COLUMN - 0.36, 0.7), frames, number)
    _draw_loss(box(x + 0.3, 0.68, _COLUMN - 0.36, 0.7), frames, number)


def _below(frames: Frames) -> str:
    """What the picture is, where it is not simply the vectors."""
    notes = []
    if int(frames.dim) > 2:
        space = "vectors" if bool(frames.flat) else "hyperbolic vectors"
        notes.append(f"{int(frames.dim)}-dimensional {space},\nseen in their principal plane")
    if int(frames.sampled):
        notes.append(f"ill pairs of {int(frames.sampled):,} sampled nodes")
    return "\n".join(notes)


def _draw_illness(axes: Axes, frames: Frames, number: int) -> None:
    """Share of ill pairs by kind so far, stacked."""
    shares = np.array([np.bincount(frames.ill(i)[2], minlength=len(KINDS)) for i in range(len(frames))])
    shares = 100.0 * shares / max(int(frames.pairs), 1)
    seen = slice(0, number + 1)
    axes.stackplot(frames.epoch[seen], shares[seen].T, colors=[ILL[kind] for kind in KINDS], linewidth=0)
    _finish_curve(axes, frames, f"ill pairs: {shares[number].sum():.0f} %", float(shares.sum(axis=1).max()))


def _draw_loss(axes: Axes, frames: Frames, number: int) -> None:
    seen = slice(0, number + 1)
    axes.plot(frames.epoch[seen], frames.loss[seen], color=ORANGE)
    axes.plot(frames.epoch[number], frames.loss[number], "o", color=ORANGE, markersize=3.5, clip_on=False)
    _finish_curve(axes, frames, f"loss: {frames.loss[number]:.3f}", float(np.nanmax(frames.loss, initial=0.0)))


def _finish_curve(axes: Axes, frames: Frames, title: str, high: float) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_title(title, fontsize=9)
    axes.set(xlim=(float(frames.epoch[0]), max(float(frames.epoch[-1]), 1.0)), ylim=(0.0, max(1.05 * high, 1e-9)))
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.yaxis.grid(True)
    axes.tick_params(labelsize=7.5, length=2)


# ---- files ----


def _write_gif(pictures: Iterator[Image], path: Path, fps: float) -> None:
    from PIL import Image

    every = list(pictures)
    # One palette for all, made from the first, middle and last picture: no flicker, and equal parts compress away.
    chosen = [every[0], every[len(every) // 2], every[-1]]
    width, height = chosen[0].size
    strip = Image.new("RGB", (width, len(chosen) * height + height // 2), "white")
    for place, one in enumerate(chosen):
        strip.paste(one, (0, place * height))
    # A colour that stands for something must not be merged with another because few pixels have it.
    meanings = [*SUBTREES, OTHER, *ILL.values(), INK]
    for place, colour in enumerate(meanings):
        left, right = (width * (place + i) // (len(meanings) + 1) for i in (0, 1))
        strip.paste(colour, (left, len(chosen) * height, right, strip.height))
    few = strip.quantize(96, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours = np.array(few.getpalette(), np.int64).reshape(-1, 3)
    # Pillow does not tell near-whites apart when it looks a colour up; the ground must be exactly that of the page.
    colours[colours.min(axis=1) > 247] = 255
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours.ravel().tolist())
    first, *rest = (one.quantize(palette=palette, dither=Image.Dither.NONE) for one in every)
    durations = [round(1000 / fps)] * len(every)
    durations[-1] = round(1000 * max(_LAST_SECONDS, 1 / fps))
    first.save(path, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, optimize=False)


def _write_mp4(pictures: Iterator[Image], path: Path, fps: float) -> None:
    import subprocess

    first = next(pictures)
    # H.264 in 4:2:0 needs even sides.
    width, height = first.width // 2 * 2, first.height // 2 * 2
    command = [
        "ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", f"{fps:g}", "-i", "-", "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
        "-f", "mp4", str(path),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        assert encoder.stderr is not None
        try:
            picture = first
            for picture in _chain(first, pictures):
                encoder.stdin.write(picture.crop((0, 0, width, height)).tobytes())
            for _ in range(round(_LAST_SECONDS * fps)):
                encoder.stdin.write(picture.crop((0, 0, width, height)).tobytes())
            encoder.stdin.close()
        except BrokenPipeError:
            pass  # what it complained about follows
        complaint = encoder.stderr.read().decode(errors="replace").strip()
    if encoder.returncode:
        reason = complaint.splitlines()[-1] if complaint else f"exit code {encoder.returncode}"
        raise InputError(f"ffmpeg could not write the animation ({reason}): choose a name that ends in .gif")


def _chain(first: Image, rest: Iterator[Image]) -> Iterator[Image]:
    yield first
    yield from rest
