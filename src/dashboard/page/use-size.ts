import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

interface Size {
  readonly width: number;
  readonly pixelRatio: number;
}

/** The width of an element in whole CSS pixels, 0 before it is known, and the device's pixels in one of them. */
export function useSize(place: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, pixelRatio: 1 });
  // Before the browser paints: what depends on the width must not be painted for another one first.
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const width = Math.floor(element.clientWidth);
      const pixelRatio = devicePixelRatio;
      setSize((old) => (old.width === width && old.pixelRatio === pixelRatio ? old : { width, pixelRatio }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // Another pixel ratio without another width: the window moved to another screen.
    addEventListener('resize', measure);
    measure();
    return () => {
      observer.disconnect();
      removeEventListener('resize', measure);
    };
  }, []);
  return size;
}
