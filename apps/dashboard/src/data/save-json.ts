/** Offers a file of JSON to be saved, as a download does. */
export function saveJson(name: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // By then the browser has started reading the blob.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
