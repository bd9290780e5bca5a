/** Puts text on the clipboard of the document's viewer. False where the browser does not let us. */
export async function putOnClipboard(document: Document, text: string): Promise<boolean> {
  const clipboard = (document.defaultView?.navigator as Partial<Navigator> | undefined)?.clipboard;
  if (clipboard === undefined) return false;
  return clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}
