import { useEffect, useState } from 'preact/hooks';
import { useRoute } from './dashboard-context.ts';
import { applyTheme, type Palette, readPalette, watchSystemTheme } from './theme.ts';

/** The colors in force; a new object when the theme changes. */
export function usePalette(): Palette {
  const { theme } = useRoute();
  const [palette, setPalette] = useState(readPalette);
  useEffect(() => {
    applyTheme(theme);
    setPalette(readPalette());
    return watchSystemTheme(() => setPalette(readPalette()));
  }, [theme]);
  return palette;
}
