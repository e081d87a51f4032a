/** YAML and JSON that takes time, memory or stack without bound if it is read without care. */

/** Ten levels of nine aliases: 3.4e9 values. */
export const aliasBomb = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...Array.from('bcdefghij', (name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[at]}`).join()}]`),
].join('\n');

/** More than the 10,000 that encoding/json and the YAML of Go read. */
const levels = 12_000;
export const deepJson = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
export const deepTexts: Readonly<Record<string, string>> = {
  'closed brackets': deepJson,
  'open brackets': '['.repeat(levels),
  'open mappings': '{a: '.repeat(levels),
  'block sequences': '- '.repeat(levels),
  'explicit keys': '? '.repeat(levels),
};
