"""Pictures among the values of code, as PNG bytes: figures of matplotlib, images of PIL, and what has _repr_png_."""

import io
import sys
import types

_PICTURES_BACKEND = "antiphon_pictures"
_PNG_START = b"\x89PNG\r\n\x1a\n"


def add_picture_modules(show_figures, show_image):
    """Lets plt.show() and PIL's show() show pictures here. Neither library is loaded by this."""
    sys.modules[_PICTURES_BACKEND] = _PicturesBackend(show_figures)

    def show(image, title=None, **_):
        show_image(image)
        return True

    viewer = types.ModuleType("PIL.ImageShow")
    viewer.show = show
    sys.modules[viewer.__name__] = viewer


def picture_of(value):
    """None if the value is no picture, or cannot be drawn."""
    try:
        if _is_figure(value):
            return _drawing(value)
        method = getattr(type(value), "_repr_png_", None)
        data = method(value) if callable(method) else None
    except Exception:
        return None
    data = data[0] if isinstance(data, tuple) and data else data
    return bytes(data) if isinstance(data, (bytes, bytearray)) and data.startswith(_PNG_START) else None


def is_open_figure(value):
    """Whether open_figures() shows the value."""
    return _is_figure(value) and any(manager.canvas.figure is value for manager in _managers())


def open_figures():
    """Draws and closes the open figures of matplotlib."""
    managers = _managers()
    try:
        for manager in managers:
            yield _drawing(manager.canvas.figure)
    finally:
        if managers:
            sys.modules["matplotlib._pylab_helpers"].Gcf.destroy_all()


def _managers():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    return helpers.Gcf.get_all_fig_managers() if helpers else []


def _is_figure(value):
    figures = sys.modules.get("matplotlib.figure")
    return figures is not None and isinstance(value, figures.Figure)


def _drawing(figure):
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()


class _PicturesBackend(types.ModuleType):
    """A backend of matplotlib whose show() shows pictures. It is loaded when matplotlib asks for it."""

    def __init__(self, show):
        super().__init__(_PICTURES_BACKEND)
        self.__dict__["show"] = lambda *_, **__: show()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        import matplotlib.backends.backend_agg as agg

        # matplotlib reads the module's own names too.
        self.__dict__.update({**{key: getattr(agg, key) for key in dir(agg) if key[:1] != "_"}, **self.__dict__})
        return getattr(agg, name)
