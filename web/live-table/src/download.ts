/** Lets the browser keep a file. */
export function keepFile(document: Document, name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The click has read the address by the next turn at the latest.
  setTimeout(() => { URL.revokeObjectURL(url); });
}
