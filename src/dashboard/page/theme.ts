// Colors: those of style.css, in the theme of the address or else of the operating system.
import type { NodeState } from '../protocol.ts';
import type { Theme } from './parse-route.ts';

export function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  if (theme === 'auto') delete root.dataset['theme'];
  else root.dataset['theme'] = theme;
}

/** Calls the listener when the operating system changes between its themes. */
export function watchSystemTheme(listener: () => void): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)');
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

export interface Palette {
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly focus: string;
  readonly series: readonly string[];
  /** Fill of the cell, and what is drawn into it. */
  readonly states: Readonly<Record<NodeState, { readonly fill: string; readonly mark: string }>>;
}

/** The colors in force, for canvases. */
export function readPalette(): Palette {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colors = (state: NodeState) => ({ fill: read(`state-${state}`), mark: read(`mark-${state}`) });
  const palette = {
    background: read('panel'),
    text: read('text'),
    muted: read('muted'),
    line: read('line'),
    focus: read('focus'),
    series: [read('series-1'), read('series-2')],
    states: {
      ready: colors('ready'),
      'not-ready': colors('not-ready'),
      suspect: colors('suspect'),
      unreachable: colors('unreachable'),
      tainted: colors('tainted'),
      emptying: colors('emptying'),
      maintenance: colors('maintenance'),
      paused: colors('paused'),
    },
  };
  probe.remove();
  return palette;
}
