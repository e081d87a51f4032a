import { stringify } from 'yaml';
import { escapeControls, escapeJsonControls } from '../../machinery/api/format-safe-text.ts';
import type { PageOutput } from './page-output.ts';

/** A page as served, for this output. Throws a SyntaxError if JSON is expected and the page is something else. */
export function renderPage(body: string, output: PageOutput): string {
  if (output === 'json') return escapeJsonControls(body);
  if (output === 'yaml') return escapeControls(stringify(JSON.parse(body), { lineWidth: 0 }));
  return escapeControls(body);
}
