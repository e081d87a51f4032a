// Colors: those of style.css, in the theme of the address or else of the operating system.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { NodeState } from '../protocol.ts';
import { useRoute } from './dashboard-context.ts';
import type { Theme } from './parse-route.ts';

export function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  if (theme === 'auto') delete root.dataset['theme'];
  else root.dataset['theme'] = theme;
}

/** Calls the listener when the operating system changes between its themes. */
function watchSystemTheme(listener: () => void): () => void {
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
function readPalette(): Palette {
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

/** The colors in force; a new object when the theme changes, after which every canvas is painted again. */
export function usePalette(): Palette {
  const { theme } = useRoute();
  const [changes, setChanges] = useState(0);
  useEffect(() => watchSystemTheme(() => setChanges((count) => count + 1)), []);
  return useMemo(() => {
    applyTheme(theme);
    return readPalette();
  }, [theme, changes]);
}
