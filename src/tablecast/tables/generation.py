"""The tables of one generation: filled together, shown together."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from typing import Protocol

from tablecast.catalog import Column
from tablecast.errors import UnknownTable, ViewerError
from tablecast.tables.dismantler import Dismantler, give_back, walk
from tablecast.tables.group_view import MOST_GROUPS
from tablecast.tables.live_table import LiveTable
from tablecast.tables.view import View, ViewSpec, make_view
from tablecast.tables.viewport import Viewport
from tablecast.tables.window import Window

SMALL = 10_000
_DISMANTLER = Dismantler()


class Holder(Protocol):
    """Somebody who looks through a viewport."""

    def touched(self) -> None:
        """The view has changed."""

    def broken(self, error: ViewerError) -> None:
        """The view has failed, and is let go already: there is nothing to look at any more."""


class SharedViewport(Viewport):
    """A viewport and those who look through it, all at the same window of the same view. `share` gives and takes it."""

    def __init__(self, share: "SharedViews", spec: ViewSpec, window: Window, view: View) -> None:
        super().__init__(view, window)
        self.share = share
        self.spec = spec
        self.source = view
        self.holders: set[Holder] = set()
        self._announced = -1
        # Whoever looks next finds out that a view has failed, and then all are told.
        with suppress(Exception):
            self._announced = view.changes

    @property
    def ready(self) -> bool:
        return self.source.ready

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the view: of groups they are others than the table's."""
        return self.source.columns

    def tell(self) -> None:
        """Tells the holders when the view has changed since they were last told."""
        if self._announced != self.source.changes and self.ready:
            self._announced = self.source.changes
            for holder in self.holders:
                holder.touched()

    @property
    def table(self) -> LiveTable:
        return self.share.table

    def release(self, holder: Holder) -> None:
        """The last one to leave takes the viewport away, and the view with its last viewport."""
        self.holders.discard(holder)
        if not self.holders:
            self.share.forget(self)


class SharedViews:
    """The views of one table that somebody looks at: equal ones are made once."""

    def __init__(self, table: LiveTable, most_groups: int = MOST_GROUPS) -> None:
        self.table = table
        self._most_groups = most_groups
        self._views: dict[ViewSpec, View] = {}
        self._viewports: dict[tuple[ViewSpec, Window], SharedViewport] = {}
        self._uses: Counter[ViewSpec] = Counter()

    def open(self, spec: ViewSpec, window: Window, holder: Holder) -> SharedViewport:
        """The viewport, made if nobody has it yet; it lives until each holder has released it. Raises BadView."""
        viewport = self._viewports.get((spec, window))
        if viewport is None:
            viewport = self._viewports[spec, window] = SharedViewport(self, spec, window, self.prepare(spec))
            self._uses[spec] += 1
        viewport.holders.add(holder)
        return viewport

    def prepare(self, spec: ViewSpec) -> View:
        """The view of this spec, made if there is none yet. Raises BadView."""
        if spec not in self._views:
            self._views[spec] = make_view(self.table, spec, self._most_groups)
        return self._views[spec]

    def forget(self, viewport: SharedViewport) -> None:
        if self._viewports.get((viewport.spec, viewport.window)) is viewport:
            del self._viewports[viewport.spec, viewport.window]
            self._uses[viewport.spec] -= 1
            self.forget_unused()

    def forget_unused(self) -> None:
        """Drops the views that nobody looks at, also those that were prepared and then wanted by nobody."""
        for spec in list(self._views):
            if self._uses[spec] == 0:
                self._drop(spec)

    def break_off(self, spec: ViewSpec, error: ViewerError) -> None:
        """Drops a view that has failed, and tells those who looked at it why; whoever opens it again gets a new one."""
        broken = [viewport for viewport in self._viewports.values() if viewport.spec == spec]
        for viewport in broken:
            del self._viewports[viewport.spec, viewport.window]
        self._drop(spec)
        holders = [holder for viewport in broken for holder in viewport.holders]
        for viewport in broken:
            viewport.holders.clear()
        for holder in holders:
            holder.broken(error)

    def keep_only(self, specs: Set[ViewSpec]) -> None:
        """Drops the views of other specs. Only for a table that nobody looks at yet."""
        for spec in list(self._views):
            if spec not in specs:
                self._drop(spec)

    def _drop(self, spec: ViewSpec) -> None:
        """A generation that is dismantled in a thread may drop the same view as the last one who leaves it: one of them gets it."""
        self._uses.pop(spec, None)
        if (view := self._views.pop(spec, None)) is not None:
            _let_go(view)

    def specs(self) -> Set[ViewSpec]:
        return frozenset(self._views)

    def shown(self) -> list[tuple[ViewSpec, View]]:
        """The views that are ready."""
        return [(spec, view) for spec, view in self._views.items() if view.ready]

    def viewports(self) -> Iterable[SharedViewport]:
        return self._viewports.values()


class Generation:
    """What a server shows at one time."""

    def __init__(self, number: int, tables: Iterable[LiveTable], aliases: Mapping[str, str], most_groups: int = MOST_GROUPS) -> None:
        self.number = number
        self.views = {table.name: SharedViews(table, most_groups) for table in tables}
        self.aliases = dict(aliases)

    def find(self, name: str) -> SharedViews:
        """The table of this name or alias. Raises UnknownTable."""
        views = self.views.get(name) or self.views.get(self.aliases.get(name, ""))
        if views is None:
            raise UnknownTable(name, [*self.views, *self.aliases])
        return views

    def tables(self) -> list[LiveTable]:
        return [views.table for views in self.views.values()]

    def dismantle(self) -> None:
        """Gives the memory back. Nobody may look at it any more; called in a thread of its own."""
        for views in self.views.values():
            views.keep_only(frozenset())
            walk(views.table.dismantle())
        give_back()


def _let_go(view: View) -> None:
    """A big view is taken apart in a thread: to free a million places at once would hold up the ticking."""
    view.leave()
    if view.held > SMALL:
        _DISMANTLER.take(view.dismantle())
