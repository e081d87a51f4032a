// The demo's outage through its page: cells, banners, queues, recovery. The actions of the page cause it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violations } from './axe.ts';
import { inBrowser } from './browser.ts';
import { DashboardPage, eventually } from './dashboard-page.ts';
import { startDemo } from './demo-dashboard.ts';

const nodesOfZone = 20;
/** 10 of 20 nodes are below the threshold of a disrupted zone, so the normal rate applies: a node a second. */
const share = '0.5';

test(
  'zone b loses half of its nodes: cells change, a banner appears, the queue drains, all recover',
  inBrowser(async ({ t, open, use }) => {
    const demo = use(await startDemo('--dashboard-port=0'));
    // The test reads the pixels of the canvas, and acts before the demo has started.
    const page = await open(demo.url, { expected: /getImageData|409/ });
    const dashboard = new DashboardPage(page);
    await dashboard.isLive();
    await eventually('60 nodes are ready', async () => (await dashboard.count('Ready')) === 60, 30_000);
    const before = await dashboard.gridColours();

    const actions = dashboard.region('Actions');
    const result = actions.getByRole('status', { name: 'Result of the action' });
    const group = actions.getByRole('group', { name: 'Cut the network of nodes' });
    // The pool edge has a breaker; filtered nodes are the ones that are cut.
    await dashboard.filter.getByRole('combobox', { name: 'Policy' }).selectOption('edge');
    await group.getByText('the filter: 5 nodes').waitFor({ state: 'attached' });
    await eventually('the demo has started and cuts the nodes', async () => {
      await group.getByRole('button', { name: 'Cut' }).click();
      await result.filter({ hasText: /^(?!Sent)./ }).waitFor();
      return /cut/.test((await result.textContent()) ?? '');
    });
    await dashboard.filter.getByRole('button', { name: 'Clear filter' }).click();
    await page.getByRole('application', { name: 'Grid of 60 nodes' }).waitFor();
    await group.getByRole('combobox', { name: 'Nodes' }).selectOption('zone:demo/b');
    await group.getByRole('combobox', { name: 'Share' }).selectOption(share);
    await group.getByRole('button', { name: 'Cut' }).click();
    const cutAtMs = performance.now();
    const seconds = (): string => ((performance.now() - cutAtMs) / 1_000).toFixed(1);

    await eventually('cells change', async () => (await dashboard.count('Ready')) < 60 - 5, 20_000);
    t.diagnostic(`cells changed after ${seconds()} s`);
    const after = await dashboard.gridColours();
    assert.ok(
      [...after.keys()].some((colour) => (after.get(colour) ?? 0) > 50 && !before.has(colour)),
      'a new colour',
    );
    await dashboard.hold(/breaker/i).waitFor({ timeout: 20_000 });
    t.diagnostic(`the breaker's banner after ${seconds()} s`);

    const waiting = (): Promise<number> => dashboard.zoneNumber('demo/b', /waiting|queue/i);
    let most = 0;
    await eventually(
      'the queue of zone b counts down',
      async () => {
        const now = await waiting();
        most = Math.max(most, now);
        return most > 1 && now < most;
      },
      30_000,
    );
    t.diagnostic(`the queue of zone b counts down from ${most} after ${seconds()} s`);
    assert.ok(most <= nodesOfZone);
    await dashboard.page
      .getByRole('table', { name: 'Timeline' })
      .getByRole('row')
      .filter({ hasText: /silent/ })
      .first()
      .waitFor();

    assert.deepEqual(await violations(page), []);
    await actions.getByRole('button', { name: 'Undo all' }).click();
    await eventually('60 nodes are ready again', async () => (await dashboard.count('Ready')) === 60, 30_000);
    await dashboard.region('Holds').getByText('No holds').waitFor();
    assert.equal(await waiting(), 0);
    t.diagnostic(`recovered after ${seconds()} s`);

    const identity = (): Promise<string | null> =>
      page.getByRole('banner').locator('dt', { hasText: 'Replica' }).locator('xpath=../dd').textContent();
    const first = await identity();
    await actions.getByRole('button', { name: 'Stop the leader' }).click();
    await eventually(
      'another replica leads, and the page follows it',
      async () => (await identity()) !== first,
      30_000,
    );
    await dashboard.isLive();
    await eventually('it knows all nodes', async () => (await dashboard.count('Ready')) === 60);
    t.diagnostic(`${await identity()} leads after ${seconds()} s`);
  }),
);
