// The dashboard by the roles and names that assistive technology sees.
import type { Locator, Page } from 'playwright-core';
import type { PageCanvas, PageGlobals } from './page-globals.ts';

export class DashboardPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get connection(): Locator {
    return this.page.getByRole('status', { name: 'Connection' });
  }

  get grid(): Locator {
    return this.page.getByRole('application', { name: /^Grid of / });
  }

  get nodesTable(): Locator {
    return this.page.getByRole('table', { name: 'Nodes' });
  }

  get filter(): Locator {
    return this.page.getByRole('search', { name: 'Filter nodes' });
  }

  region(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true });
  }

  /** The stream delivers, and the first snapshot is shown. */
  async isLive(): Promise<void> {
    await this.connection.filter({ hasText: 'Live' }).waitFor();
    await this.region('Nodes').waitFor();
  }

  async select(view: 'Grid' | 'Table'): Promise<void> {
    await this.page.getByRole('radiogroup', { name: 'View' }).getByText(view, { exact: true }).click();
  }

  /** The button that filters by a state, with the number of nodes in its name. */
  state(label: string): Locator {
    return this.filter.getByRole('button', { name: new RegExp(`^${label} [\\d,]+$`) });
  }

  /** The number of nodes in a state; 0 if the page has no button for it. */
  async count(label: string): Promise<number> {
    const button = this.state(label);
    if ((await button.count()) === 0) return 0;
    const text = (await button.textContent()) ?? '';
    return Number(text.replaceAll(/[^\d]/g, ''));
  }

  zone(name: string): Locator {
    const header = this.page.getByRole('rowheader', { name, exact: true });
    return this.region('Zones').getByRole('row').filter({ has: header });
  }

  /** The number in a column of a zone's row. */
  async zoneNumber(zone: string, column: RegExp): Promise<number> {
    const headers = await this.region('Zones').getByRole('columnheader').allTextContents();
    const index = headers.findIndex((header) => column.test(header));
    const cells = this.zone(zone).getByRole('cell');
    // The row header is in the first column and no cell.
    return Number.parseFloat(((await cells.nth(index - 1).textContent()) ?? '').replaceAll(',', ''));
  }

  hold(kind: RegExp): Locator {
    return this.region('Holds').getByRole('listitem', { name: kind });
  }

  /** Number of pixels of each colour of the grid. */
  async gridColours(): Promise<ReadonlyMap<string, number>> {
    const counts = await this.grid.evaluate((element) => {
      const canvas = element as unknown as PageCanvas;
      const { width, height } = canvas;
      const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
      const counts = new Map<string, number>();
      for (let at = 0; at < pixels.length; at += 4) {
        const key = `${pixels[at]} ${pixels[at + 1]} ${pixels[at + 2]} ${pixels[at + 3]}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return [...counts];
    });
    return new Map(counts);
  }

  /** By how much the page is wider than its window, in CSS pixels. */
  overflow(): Promise<number> {
    return this.page.evaluate(() => {
      const { scrollWidth, clientWidth } = (globalThis as unknown as PageGlobals).document.documentElement;
      return scrollWidth - clientWidth;
    });
  }
}

/** Waits until a condition of the page holds, by asking again. */
export async function eventually(what: string, isSo: () => Promise<boolean>, limitMs = 15_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`not within ${limitMs / 1_000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
