import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from './browser.ts';
import { DashboardPage, eventually } from './dashboard-page.ts';
import type { PageGlobals } from './page-globals.ts';
import { SyntheticServer } from './synthetic-server.ts';

const refused = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/;

test(
  'a server that restarts: the page reports it, then shows the new state without a reload',
  inBrowser(async ({ open, use }) => {
    const server = use(await SyntheticServer.start({ zones: 3, nodesPerZone: 20 }));
    const page = await open(server.url, { expected: refused });
    const dashboard = new DashboardPage(page);
    await dashboard.isLive();
    assert.equal(await dashboard.count('Ready'), 60);
    await page.evaluate(() => {
      const { document } = globalThis as unknown as PageGlobals;
      document.documentElement.setAttribute('data-loaded-once', '');
    });

    await server.stop();
    await dashboard.connection.filter({ hasText: /^Reconnecting since \d\d:\d\d:\d\d/ }).waitFor();
    await page.getByRole('alert', { name: 'Connection problem' }).waitFor();
    assert.equal(await dashboard.count('Ready'), 60, 'the last known state stays');

    server.cluster.cut('z2');
    server.cluster.step();
    await server.listen();
    await dashboard.connection.filter({ hasText: 'Live' }).waitFor();
    await eventually('the state after the restart', async () => (await dashboard.count('Suspect')) === 20);
    assert.equal(await page.getByRole('alert', { name: 'Connection problem' }).count(), 0);
    assert.equal(await page.locator('html[data-loaded-once]').count(), 1, 'the page was not loaded again');
  }),
);
