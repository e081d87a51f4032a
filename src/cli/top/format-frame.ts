// Lines as text for a terminal, or for a file.
import type { Line, LineStyle } from './build-top-frame.ts';

/** Graphic renditions of ECMA-48. */
const renditions: Readonly<Record<LineStyle, string>> = {
  plain: '',
  title: '\x1b[1m',
  head: '\x1b[7m',
  good: '\x1b[32m',
  warn: '\x1b[33m',
  bad: '\x1b[31m',
  dim: '\x1b[2m',
};
const reset = '\x1b[0m';
const home = '\x1b[H';
const clearToLineEnd = '\x1b[K';
const clearToScreenEnd = '\x1b[J';

/** The alternate screen without a cursor, and back: what was on the terminal before is there again. */
export const enterScreen = '\x1b[?1049h\x1b[?25l';
export const leaveScreen = '\x1b[?25h\x1b[?1049l';

/** Draws over the last frame, so that nothing flickers. */
export function formatFrame(lines: readonly Line[], coloured: boolean): string {
  const rows = lines.map((line) => `${styled(line, coloured)}${clearToLineEnd}`);
  return `${home}${rows.join('\r\n')}${clearToScreenEnd}`;
}

export function formatTables(lines: readonly Line[]): string {
  return lines.map(({ text }) => `${text}\n`).join('');
}

function styled({ text, style }: Line, coloured: boolean): string {
  const rendition = coloured ? renditions[style] : '';
  return rendition === '' ? text : `${rendition}${text}${reset}`;
}
