import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { nlc } from '../support/run-command.ts';
import { violations } from './axe.ts';
import { inBrowser } from './browser.ts';
import { DashboardPage } from './dashboard-page.ts';

const scenario = join(import.meta.dirname, '..', '..', 'scenarios', 'one-node.yaml');

test(
  'the report of nlc simulate is one file that works without a network',
  inBrowser(async ({ t, open }) => {
    const folder = mkdtempSync(join(tmpdir(), 'nlc-report-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'report.html');
    const { code, err } = await nlc('simulate', scenario, `--html=${file}`);
    assert.equal(code, 0, err);

    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(pathToFileURL(file).href, { colorScheme, context: { offline: true } });
      const dashboard = new DashboardPage(page);
      await dashboard.region('Timeline').waitFor();
      await dashboard.grid.waitFor();
      await page.getByRole('slider').first().press('End');
      assert.ok((await page.getByRole('table', { name: 'Timeline' }).getByRole('row').count()) > 3);
      assert.ok((await dashboard.overflow()) <= 0, 'the page is not wider than its window');
      assert.deepEqual(await violations(page), []);
    }
  }),
);
