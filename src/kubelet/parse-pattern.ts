/** The expression for whole texts that match a pattern, in which `*` is any text and `?` one character. */
export function parsePattern(text: string): RegExp {
  const source = text
    .replaceAll(/[.+^${}()|[\]\\]/gu, String.raw`\$&`)
    .replaceAll(/\*+/gu, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'su');
}
