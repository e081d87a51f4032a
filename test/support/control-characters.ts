/** Characters of a text that control a terminal or the direction of text; a line feed is none of them. */
export function controlsIn(text: string): readonly string[] {
  return Array.from(text).filter((char) => {
    const code = char.codePointAt(0) ?? 0;
    const isControl = (code < 0x20 && char !== '\n') || (code >= 0x7f && code < 0xa0);
    return isControl || marks.includes(char);
  });
}

const marks = '\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
