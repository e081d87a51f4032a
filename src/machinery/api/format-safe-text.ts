/** Control characters except line feed and tab, and those that change the direction of text. */
// oxlint-disable-next-line no-control-regex -- they are what is replaced
const unsafe = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text of another process for a terminal: control characters are shown as `\x1b`, so that none reaches the terminal. */
export function escapeControls(text: string): string {
  return text.replace(unsafe, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : escapedUnit(code);
  });
}

/** One line of text: {@link escapeControls}, and line feeds and tabs as `\\n` and `\\t`, so that no text begins a line of its own. */
export function escapeLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** JSON with {@link escapeControls} applied, which remains valid and equal: such a character can only be in a string. */
export function escapeJsonControls(json: string): string {
  return json.replace(unsafe, (char) => escapedUnit(char.charCodeAt(0)));
}

function escapedUnit(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
