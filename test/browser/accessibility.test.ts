import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violations } from './axe.ts';
import { inBrowser } from './browser.ts';
import { DashboardPage } from './dashboard-page.ts';
import { SyntheticServer } from './synthetic-server.ts';

const stepsIntoTheOutage = 12;

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [360, 1_440]) {
    test(
      `no axe-core violation, color scheme ${colorScheme}, ${width} px`,
      inBrowser(async ({ open, use }) => {
        const server = use(await outage());
        const page = await open(server.url, { width, colorScheme });
        const dashboard = new DashboardPage(page);
        await dashboard.isLive();
        assert.deepEqual(await violations(page), [], 'grid');
        assert.ok((await dashboard.overflow()) <= 0, 'the page is not wider than its window');
        await dashboard.select('Table');
        await dashboard.nodesTable.waitFor();
        assert.deepEqual(await violations(page), [], 'table');
        assert.ok((await dashboard.overflow()) <= 0, 'the page is not wider than its window');
        await dashboard.nodesTable.getByRole('link').first().click();
        await page.getByRole('table', { name: 'Countdowns' }).waitFor();
        assert.deepEqual(await violations(page), [], 'node');
        assert.ok((await dashboard.overflow()) <= 0, 'the page is not wider than its window');
      }),
    );
  }
}

test(
  'the page fills a window of 3840 px and is not wider',
  inBrowser(async ({ open, use }) => {
    const server = use(await outage());
    const dashboard = new DashboardPage(await open(server.url, { width: 3_840, height: 2_160 }));
    await dashboard.isLive();
    assert.ok((await dashboard.overflow()) <= 0);
    const box = await dashboard.page.getByRole('main').boundingBox();
    assert.ok(box !== null && box.width > 1_800, `main is ${box?.width} px wide`);
  }),
);

/** A zone of three is unreachable, part of it is tainted and emptied. */
async function outage(): Promise<SyntheticServer> {
  const server = await SyntheticServer.start({ zones: 3, nodesPerZone: 60 });
  server.cluster.cut('z2');
  for (let step = 0; step < stepsIntoTheOutage; step += 1) server.cluster.step();
  return server;
}
