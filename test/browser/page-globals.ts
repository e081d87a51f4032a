// The part of the DOM that functions use which run in the page: the types of the DOM would replace types of Node.js in the
// other files of the program.

interface PageElement {
  readonly scrollWidth: number;
  readonly clientWidth: number;
  readonly textContent: string | null;
  readonly labels?: readonly PageElement[];
  append(element: object): void;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  getBoundingClientRect(): { readonly top: number };
}

/** Of the canvas of the grid. */
export interface PageCanvas {
  readonly width: number;
  readonly height: number;
  getContext(kind: '2d'): {
    getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray };
  };
}

interface PolicyViolation {
  readonly effectiveDirective: string;
  readonly blockedURI: string;
  readonly sample: string;
}

/** `globalThis` in the page. */
export interface PageGlobals {
  readonly document: {
    readonly documentElement: PageElement;
    readonly body: PageElement;
    readonly activeElement: PageElement | null;
    readonly title: string;
    createElement(name: string): { textContent: string };
    addEventListener(kind: 'securitypolicyviolation', listener: (event: PolicyViolation) => void): void;
  };
  readonly navigator: { readonly clipboard: { readText(): Promise<string> } };
  readonly scrollY: number;
  readonly Image: new () => { src: string };
  readonly PerformanceObserver: new (
    listener: (list: { getEntries(): readonly LayoutShift[] }) => void,
  ) => { observe(options: { readonly type: 'layout-shift'; readonly buffered: boolean }): void };
  getComputedStyle(element: PageElement): {
    readonly outlineStyle: string;
    readonly outlineWidth: string;
    readonly boxShadow: string;
  };
  requestAnimationFrame(next: () => void): void;
}

interface LayoutShift {
  readonly value: number;
  readonly hadRecentInput: boolean;
  readonly sources: readonly { readonly node: PageElement | null }[];
}
