/** The text without the characters `char` at its end, in linear time: `replace(/x+$/, '')` begins at each `x` of the text. */
export function withoutTrailing(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end -= 1;
  return text.slice(0, end);
}
