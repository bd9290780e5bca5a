"""The subscriptions of one viewer."""

from tablecast.errors import (
    MessageUnreadable,
    OwnViewsTooMany,
    SubscriptionExists,
    SubscriptionsTooMany,
    UnknownSubscription,
    ViewerError,
)
from tablecast.server.hub import Hub
from tablecast.server.outbox import Outbox
from tablecast.server.subscription import Subscription
from tablecast.settings import ServerSettings
from tablecast.tables.condition import read_condition
from tablecast.tables.group import read_grouping
from tablecast.tables.view import SortKey, ViewSpec
from tablecast.tables.window import Window
from tablecast.wire.messages import Closed, Error, Find, Move, Open, Shape, Took, encode


class Subscriptions:
    """Opened, moved and closed as the viewer asks. A step that cannot be taken raises a ViewerError and leaves the subscription as it was."""

    def __init__(self, hub: Hub, settings: ServerSettings, outbox: Outbox) -> None:
        self._hub = hub
        self._settings = settings
        self._outbox = outbox
        self._known: dict[int, Subscription] = {}

    def __len__(self) -> int:
        return len(self._known)

    def open(self, message: Open) -> None:
        """Before any generation is live the subscription waits, and is answered when one is."""
        if message.sub in self._known:
            raise SubscriptionExists(message.sub)
        if len(self._known) >= self._settings.subscriptions:
            raise SubscriptionsTooMany(self._settings.subscriptions)
        subscription = Subscription(message.sub, message.table, self._outbox.mark, self._refuse, message.ahead)
        subscription.look(self._hub.generation, self._spec(message, subscription), self._window(message))
        subscription.answer_whole(message.request)
        self._known[message.sub] = subscription
        self._show(subscription)

    def look(self, message: Move | Shape) -> None:
        subscription = self._find(message.sub)
        if message.request <= subscription.request:
            raise MessageUnreadable(f"the request {message.request} of subscription {message.sub} is not above {subscription.request}")
        # A refused request is answered too: the viewer drops frames of older requests, and must go on seeing the window that it has.
        subscription.answer_whole(message.request)
        self._begin_anew(message.sub)
        spec = self._spec(message, subscription) if isinstance(message, Shape) else None
        subscription.look(self._hub.generation, spec, self._window(message))
        self._show(subscription)

    def seek(self, message: Find) -> None:
        """Answered right behind the frame of the state in which the row was looked for."""
        self._find(message.sub).seek(message.row)
        self._outbox.mark(message.sub)

    def took(self, message: Took) -> bool:
        """The viewer can take more. Whether that is news: one that was on its way while the subscription was closed is not."""
        subscription = self._known.get(message.sub)
        news = subscription is not None and subscription.took(message.revision)
        if subscription is not None and not subscription.full:
            self._outbox.let_go(message.sub)
        return news

    def close(self, sub: int) -> None:
        self._find(sub).leave()
        self._drop(sub)
        self._outbox.put(encode(Closed(sub)))

    def leave(self) -> None:
        """Lets go of all of them, without an answer."""
        for sub, subscription in list(self._known.items()):
            subscription.leave()
            self._drop(sub)

    def flipped(self) -> None:
        """Every subscription moves over to the hub's generation. One that cannot is told why, and waits for a generation that has its view."""
        for subscription in list(self._known.values()):
            try:
                subscription.follow(self._hub.generation)
            except ViewerError as error:
                self._refuse(subscription, error)
            else:
                self._show(subscription)

    def cut(self, sub: int, waited: float) -> list[bytes]:
        subscription = self._known.get(sub)
        if subscription is None:
            return []
        viewport = subscription.viewport
        try:
            messages = subscription.cut(waited)
        except Exception as error:
            if viewport is None:
                raise
            # The view has failed since it was last looked at: all who look at it are told now.
            self._hub.break_off(viewport, error)
            return []
        if subscription.full:
            self._outbox.hold(sub)
        return messages

    def _show(self, subscription: Subscription) -> None:
        self._begin_anew(subscription.sub)
        if subscription.viewport is not None:
            self._hub.show(subscription.viewport)

    def _begin_anew(self, sub: int) -> None:
        """The next frame is whole, and does not wait until the viewer is done with those before it."""
        self._outbox.let_go(sub)
        self._outbox.mark(sub)

    def _refuse(self, subscription: Subscription, error: ViewerError) -> None:
        """One that the viewer knows stays, and shows nothing until it is asked for something else or a generation comes that has its view."""
        self._outbox.put(encode(Error.of(error, subscription.sub)))
        if not subscription.opened:
            self._drop(subscription.sub)

    def _find(self, sub: int) -> Subscription:
        if sub not in self._known:
            raise UnknownSubscription(sub)
        return self._known[sub]

    def _drop(self, sub: int) -> None:
        del self._known[sub]
        self._outbox.forget(sub)

    def _spec(self, message: Open | Shape, subscription: Subscription) -> ViewSpec:
        spec = _spec(message)
        others = {other.view for other in self._known.values() if other is not subscription and not other.view[1].natural}
        if not spec.natural and (subscription.table, spec) not in others and len(others) >= self._settings.viewer_views:
            raise OwnViewsTooMany(self._settings.viewer_views)
        self._hub.admit(subscription.table, spec)
        return spec

    def _window(self, message: Open | Move | Shape) -> Window:
        return Window.checked(message.offset, message.size, self._settings.window_rows)


def _spec(message: Open | Shape) -> ViewSpec:
    sort = tuple(SortKey(key.column, key.descending, key.locale or None) for key in message.sort)
    filter = None if message.filter is None else read_condition(message.filter)
    return ViewSpec(sort, filter, message.search or None, None if message.group is None else read_grouping(message.group))
