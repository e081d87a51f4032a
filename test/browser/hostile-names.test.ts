// Names that kube-apiserver would refuse; the protocol carries any text, and so does a cluster with another validation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from './browser.ts';
import { DashboardPage } from './dashboard-page.ts';
import { SyntheticServer } from './synthetic-server.ts';

const names: readonly string[] = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(2)</script>',
  "javascript:alert('3')",
  '\u202Egnp.tnecselcafo',
  '__proto__',
  'constructor',
  '%2e%2e%2f',
  '../metrics',
  'a&amp;b?c#d=e',
  'e\u0301'.repeat(40),
  'a'.repeat(253),
  `${'long-label.'.repeat(22)}example`,
];

test(
  'hostile node names are only text in table, grid and node page, at 360 px too',
  inBrowser(async ({ open, use }) => {
    const server = use(await SyntheticServer.start({ zones: 1, nodesPerZone: 3, names }));
    server.cluster.cut('z1');
    for (let step = 0; step < 9; step += 1) server.cluster.step();
    for (const width of [360, 1_440]) {
      const page = await open(`${server.url}#/?view=table`, { width });
      const dashboard = new DashboardPage(page);
      await dashboard.isLive();
      const links = await dashboard.nodesTable.getByRole('link').allTextContents();
      for (const name of names) assert.ok(links.includes(name), `no link with the text ${name}`);
      assert.equal(await page.locator('main img, main script').count(), 0);
      assert.ok((await dashboard.overflow()) <= 0, `${width} px: the page is wider than its window`);
      await dashboard.select('Grid');
      await dashboard.grid.waitFor();
      assert.ok((await dashboard.overflow()) <= 0, `${width} px: the page is wider than its window`);
      for (const name of names) {
        await page.goto(`${server.url}#/nodes/${encodeURIComponent(name)}`);
        const heading = page.getByRole('main').getByRole('heading', { level: 2 }).first();
        await heading.filter({ hasText: name }).waitFor();
        await page.getByRole('table', { name: 'Countdowns' }).waitFor();
        assert.equal(await page.locator('main img, main script').count(), 0);
        assert.ok(
          (await dashboard.overflow()) <= 0,
          `${width} px: the page of ${name.slice(0, 20)} is wider than its window`,
        );
      }
    }
  }),
);

test(
  'a filter with hostile text is only text',
  inBrowser(async ({ open, use }) => {
    const server = use(await SyntheticServer.start({ zones: 1, nodesPerZone: 3, names }));
    const hostile = '<img src=x onerror=alert(1)>';
    const page = await open(
      `${server.url}#/?name=${encodeURIComponent(hostile)}&zone=${encodeURIComponent(hostile)}&view=table`,
    );
    const dashboard = new DashboardPage(page);
    await dashboard.isLive();
    assert.equal(await dashboard.filter.getByRole('searchbox', { name: 'Name' }).inputValue(), hostile);
    assert.equal(await page.locator('main img').count(), 0);
  }),
);
