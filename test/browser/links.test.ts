import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from './browser.ts';
import { DashboardPage } from './dashboard-page.ts';
import type { PageGlobals } from './page-globals.ts';
import { SyntheticServer } from './synthetic-server.ts';

test(
  'the address of a filter shows the same nodes in another window, and as JSON',
  inBrowser(async ({ open, use }) => {
    const server = use(await outage());
    const page = await open(server.url, { context: { permissions: ['clipboard-read', 'clipboard-write'] } });
    const dashboard = new DashboardPage(page);
    await dashboard.isLive();
    await dashboard.filter.getByRole('combobox', { name: 'Zone' }).selectOption('z2');
    await dashboard.state('Unreachable').click();
    await dashboard.filter.getByRole('searchbox', { name: 'Name' }).fill('-00');
    await dashboard.select('Table');
    const shown = await rowNames(dashboard);
    assert.ok(shown.length > 0 && shown.every((name) => name.startsWith('z2-')), shown.join());

    const other = new DashboardPage(await open(page.url(), { width: 800 }));
    await other.isLive();
    await other.nodesTable.waitFor();
    assert.deepEqual(await rowNames(other), shown);
    assert.equal(await other.filter.getByRole('combobox', { name: 'Zone' }).inputValue(), 'z2');
    assert.equal(await other.state('Unreachable').getAttribute('aria-pressed'), 'true');
    assert.equal(await other.filter.getByRole('searchbox', { name: 'Name' }).inputValue(), '-00');

    await dashboard.region('Nodes').getByRole('button', { name: 'Copy as JSON' }).click();
    const copied = JSON.parse(await clipboard(page)) as unknown;
    const nodes = (Array.isArray(copied) ? copied : (copied as { nodes: unknown[] }).nodes) as { name: string }[];
    assert.deepEqual(nodes.map(({ name }) => name).sort(), [...shown].sort());

    await dashboard.filter.getByRole('button', { name: 'Clear filter' }).click();
    await dashboard.nodesTable.getByRole('link', { name: 'z1-node-0001' }).waitFor();
  }),
);

test(
  'the address of a node shows it; an unknown node is reported',
  inBrowser(async ({ open, use }) => {
    const server = use(await outage());
    const page = await open(`${server.url}#/nodes/z2-node-0001`, {
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
      expected: /404/,
    });
    await page.getByRole('main').getByRole('heading', { level: 2, name: 'z2-node-0001' }).waitFor();
    await page.getByRole('table', { name: 'Countdowns' }).waitFor();
    await page.getByRole('button', { name: 'Copy as JSON' }).click();
    const { node } = JSON.parse(await clipboard(page)) as { readonly node: string };
    assert.equal(node, 'z2-node-0001');

    const unknown = await open(`${server.url}#/nodes/nowhere`, { expected: /404/ });
    await unknown.getByRole('alert').filter({ hasText: 'nowhere' }).waitFor();
    await unknown.getByRole('link', { name: 'All nodes' }).click();
    await new DashboardPage(unknown).grid.waitFor();
  }),
);

test(
  'times are those of the viewer, with UTC in their titles',
  inBrowser(async ({ open, use }) => {
    const server = use(await outage());
    const page = await open(server.url, { context: { timezoneId: 'Asia/Kolkata' } });
    await new DashboardPage(page).isLive();
    const time = page.getByRole('table', { name: 'Timeline' }).locator('time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const shown = (await time.textContent()) ?? '';
    const local = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Kolkata', timeStyle: 'medium' }).format(at);
    assert.ok(shown.includes(local), `${shown} is not ${local}`);
    const title = (await time.getAttribute('title')) ?? '';
    assert.ok(title.includes(at.toISOString().slice(11, 19)) && title.includes('UTC'), title);
  }),
);

test(
  'a browser whose language is not a valid one shows the page and its plots',
  inBrowser(async ({ open, use }) => {
    const server = use(await outage());
    const page = await open(server.url, { context: { locale: 'en-GB@posix' } });
    await new DashboardPage(page).isLive();
    await page.locator('.uplot canvas').first().waitFor();
  }),
);

test(
  'a snapshot that arrives before the first frame is shown',
  inBrowser(async ({ open, use }) => {
    const server = use(await outage());
    const page = await open(server.url, { before: delayFrames });
    // The cluster is quiet: no delta comes after the snapshot.
    await new DashboardPage(page).isLive();
  }),
);

/** As on a busy machine: a frame, and what waits for one, takes a second. */
function delayFrames(): void {
  const { setTimeout } = globalThis;
  const delayed = (run: () => void, ms = 0): unknown => setTimeout(run, ms + 1_000);
  Object.assign(globalThis, { setTimeout: delayed, requestAnimationFrame: delayed });
}

async function outage(): Promise<SyntheticServer> {
  const server = await SyntheticServer.start({ zones: 3, nodesPerZone: 60 });
  server.cluster.cut('z2');
  for (let step = 0; step < 6; step += 1) server.cluster.step();
  return server;
}

async function rowNames({ nodesTable }: DashboardPage): Promise<readonly string[]> {
  return nodesTable.getByRole('link').allTextContents();
}

function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => (globalThis as unknown as PageGlobals).navigator.clipboard.readText());
}
