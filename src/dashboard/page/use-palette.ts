import { useEffect, useMemo, useState } from 'preact/hooks';
import { useRoute } from './dashboard-context.ts';
import { applyTheme, type Palette, readPalette, watchSystemTheme } from './theme.ts';

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
