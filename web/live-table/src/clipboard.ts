/** What is said where the browser does not let us: over plain http no page may copy by itself, and the keys do. */
export const NOT_COPIED = 'The browser does not let this page copy. Choose the cells and press Ctrl C.';

/** Puts text on the clipboard of the document's viewer. False where the browser does not let us. */
export async function putOnClipboard(document: Document, text: string): Promise<boolean> {
  const clipboard = (document.defaultView?.navigator as Partial<Navigator> | undefined)?.clipboard;
  if (clipboard === undefined) return false;
  return clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}
