// The pictures of docs/dashboard.md: `npm run screenshots`. They show a run of the demo, with both themes:
// the whole cluster, the zone of the outage, and a node that is being emptied.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { unpackedChromium } from './chromium.ts';
import { DashboardPage, eventually } from './dashboard-page.ts';
import { startDemo } from './demo-dashboard.ts';
import { startBrowser } from './start-browser.ts';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'dashboard');
const bytesMax = 250 * 1024;
/** The plots have a value of the outage after this time; the scene lasts longer. */
const secondsOfOneSample = 11;
const schemes = ['light', 'dark'] as const;
type Scheme = (typeof schemes)[number];

interface Picture {
  readonly name: 'overview' | 'outage' | 'node';
  readonly hash: string;
  readonly height: number;
}

const pictures: readonly Picture[] = [
  { name: 'overview', hash: '#/', height: 1_380 },
  { name: 'outage', hash: `#/?zone=${encodeURIComponent('demo/b')}&view=table&sort=state&desc=1`, height: 1_000 },
  // Cut in both scenes, so it has the most to show.
  { name: 'node', hash: '#/nodes/a-07', height: 640 },
];

const found = unpackedChromium();
if ('missing' in found) {
  console.error(`screenshots: ${found.missing}`);
  process.exit(1);
}
const browser = await startBrowser(found);
try {
  await using demo = await startDemo('--dashboard-port=0');
  await writePictures(browser, demo.url);
} finally {
  await browser.close();
}

/** Opens all pages before the outage, so that the pictures are of the same seconds. */
async function writePictures(browser: Browser, url: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const opened = await Promise.all(
    schemes.flatMap((scheme) =>
      pictures.map(async (picture) => ({
        picture,
        scheme,
        page: await open(browser, scheme, url, picture),
      })),
    ),
  );
  const [overview] = opened;
  if (overview === undefined) return;
  const dashboard = new DashboardPage(overview.page);
  await dashboard.isLive();
  console.log('waiting for the outage of zone b ...');
  const isUnderWay = async (): Promise<boolean> =>
    (await dashboard.hold(/breaker/i).count()) > 0 &&
    (await dashboard.count('Emptying')) + (await dashboard.count('Tainted')) > 2;
  await eventually('the outage of zone b, with nodes that are emptied', isUnderWay, 90_000);
  await new Promise((resolve) => setTimeout(resolve, secondsOfOneSample * 1_000));
  for (const { picture, scheme, page } of opened) await write(page, `${picture.name}-${scheme}.png`);
}

async function open(browser: Browser, colorScheme: Scheme, url: string, { hash, height }: Picture): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1_440, height },
    colorScheme,
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  await page.goto(`${url}${hash}`);
  return page;
}

async function write(page: Page, name: string): Promise<void> {
  const path = join(folder, name);
  await page.screenshot({ path });
  const { size } = statSync(path);
  console.log(`docs/dashboard/${name}: ${Math.round(size / 1_024)} KiB`);
  if (size > bytesMax) throw new Error(`${name} is larger than ${bytesMax / 1_024} KiB`);
}
