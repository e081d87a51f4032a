import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from './browser.ts';
import { DashboardPage } from './dashboard-page.ts';
import type { PageGlobals } from './page-globals.ts';
import { SyntheticServer } from './synthetic-server.ts';

const tabsMax = 60;

test(
  'a filter, a cell, the page of its node and back, with the keyboard alone',
  inBrowser(async ({ open, use }) => {
    const server = use(await SyntheticServer.start({ zones: 3, nodesPerZone: 20 }));
    const page = await open(server.url);
    const dashboard = new DashboardPage(page);
    await dashboard.isLive();

    await tabTo(dashboard, 'Name');
    await page.keyboard.type('z2');
    await dashboard.page.getByRole('application', { name: /^Grid of 20 / }).waitFor();
    const address = page.url();

    await tabTo(dashboard, /^Grid of 20 /);
    const focused = page.getByRole('status', { name: 'Focused node' });
    await page.keyboard.press('Home');
    await focused.filter({ hasText: 'z2-node-0001' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await focused.filter({ hasText: 'z2-node-0002' }).waitFor();
    await page.keyboard.press('End');
    await focused.filter({ hasText: 'z2-node-0020' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await focused.filter({ hasText: 'z2-node-0020' }).waitFor();

    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'z2-node-0020' }).waitFor();
    assert.match(page.url(), /#\/nodes\/z2-node-0020/);
    await page.goBack();
    await dashboard.page.getByRole('application', { name: /^Grid of 20 / }).waitFor();
    assert.equal(page.url(), address);
    assert.equal(await dashboard.filter.getByRole('searchbox', { name: 'Name' }).inputValue(), 'z2');
  }),
);

test(
  'Tab visits each control once, in the order of the page, and each shows its focus',
  inBrowser(async ({ open, use }) => {
    const server = use(await SyntheticServer.start({ zones: 2, nodesPerZone: 4 }));
    const page = await open(`${server.url}#/?view=table`);
    await new DashboardPage(page).isLive();
    const visited: { readonly top: number; readonly name: string; readonly outline: string }[] = [];
    for (let count = 0; count < tabsMax; count += 1) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const globals = globalThis as unknown as PageGlobals;
        const element = globals.document.activeElement;
        if (element === null || element === globals.document.body) return undefined;
        const { top } = element.getBoundingClientRect();
        const { outlineStyle, outlineWidth, boxShadow } = globals.getComputedStyle(element);
        const outline = outlineStyle === 'none' || outlineWidth === '0px' ? boxShadow : outlineStyle;
        return {
          top: top + globals.scrollY,
          name: element.getAttribute('aria-label') ?? element.textContent ?? '',
          outline,
        };
      });
      if (stop === undefined) break;
      visited.push(stop);
    }
    assert.ok(visited.length > 15, `only ${visited.length} controls`);
    assert.ok(visited.length < tabsMax, 'the end of the page is reached');
    const withoutFocus = visited.filter(({ outline }) => outline === 'none');
    assert.deepEqual(withoutFocus, []);
    // Within a row of the layout the order is from left to right; rows follow each other.
    const upwards = visited.filter(({ top }, index) => top < (visited[index - 1]?.top ?? 0) - 400);
    assert.deepEqual(upwards, []);
  }),
);

/** Presses Tab until the focused element has this accessible name. */
async function tabTo({ page }: DashboardPage, name: string | RegExp): Promise<void> {
  for (let count = 0; count < tabsMax; count += 1) {
    await page.keyboard.press('Tab');
    const label = await page.evaluate(() => {
      const element = (globalThis as unknown as PageGlobals).document.activeElement;
      return element?.getAttribute('aria-label') ?? element?.labels?.[0]?.textContent ?? '';
    });
    if (typeof name === 'string' ? label.trim() === name : name.test(label)) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}
