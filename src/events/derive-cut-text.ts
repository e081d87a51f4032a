const encoder = new TextEncoder();

/** The beginning of a text that fits into so many bytes of UTF-8. No character is cut in two. */
export function deriveCutText(text: string, bytesMax: number): string {
  // No character takes more than three bytes for each of its UTF-16 units.
  if (text.length * 3 <= bytesMax) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}
