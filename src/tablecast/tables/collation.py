"""Text in the order of a language, by the ICU library, which the extra `locale` brings."""

from collections.abc import Callable
from functools import lru_cache

from tablecast.errors import BadView


@lru_cache(maxsize=64)
def collation(locale: str) -> Callable[[str], bytes]:
    """The function from a text to bytes that compare as people of this locale order texts. Raises BadView."""
    try:
        import icu  # noqa: PLC0415 - only who sorts so needs it
    except ImportError:
        raise BadView(
            f"this server cannot sort by the locale {locale[:40]!r}", "Install tablecast[locale] there, or sort without a locale."
        ) from None
    try:
        collator = icu.Collator.createInstance(icu.Locale.forLanguageTag(locale))
    except icu.ICUError:
        collator = None
    if collator is None or not (collator.getLocale(icu.ULocDataLocaleType.VALID_LOCALE).getName() or locale == "und"):
        raise BadView(
            f"there is no order of texts for the locale {locale[:40]!r}", "Use a language tag such as de, sv, zh-Hant, or und for any language."
        )
    sort_key: Callable[[str], bytes] = collator.getSortKey
    return sort_key
