// Tests in a real browser. One Chromium for each test file, a new context (cookies, cache, storage) for each test. Each test
// also asserts what holds for every page: no error in the console or in a script, no request to another origin, no
// violation of the Content-Security-Policy, its headers on every response of the dashboard, and no cookie.
import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { unpackedChromium } from './chromium.ts';
import { PageWatch } from './page-watch.ts';
import { startBrowser } from './start-browser.ts';

const navigationMsMax = 15_000;
const actionMsMax = 10_000;

interface BrowserTest {
  readonly t: TestContext;
  /** Disposes of a server when the test has ended and its pages are closed. */
  readonly use: <T extends AsyncDisposable>(server: T) => T;
  /** Opens a page in a new context. */
  readonly open: (url: string, options?: OpenOptions) => Promise<Page>;
}

interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly context?: BrowserContextOptions;
  /** Runs in the page before its scripts. */
  readonly before?: () => void;
  /** Messages of the console that are expected, such as those of a server that is down. */
  readonly expected?: RegExp;
}

const found = unpackedChromium();
let started: Promise<Browser> | undefined;

after(async () => {
  const browser = await started;
  await browser?.close();
});

/**
 * The function of a test with pages of its own, `test('...', inBrowser(async ({ open }) => {}))`; the test is skipped, with the
 * reason, where Chromium cannot start.
 */
export function inBrowser(run: (setting: BrowserTest) => Promise<void>): (t: TestContext) => Promise<void> {
  return async (t) => {
    if ('missing' in found) return t.skip(found.missing);
    await using servers = new AsyncDisposableStack();
    const contexts: { readonly context: BrowserContext; readonly watch: PageWatch }[] = [];
    const open = async (url: string, options: OpenOptions = {}): Promise<Page> => {
      started ??= startBrowser(found);
      const opened = await openContext(await started, options);
      contexts.push(opened);
      opened.watch.allow(url);
      const page = await opened.context.newPage();
      await page.goto(url);
      return page;
    };
    try {
      await run({ t, open, use: (server) => servers.use(server) });
      for (const { watch } of contexts) assert.deepEqual(await watch.problems(), []);
    } catch (error) {
      for (const { context } of contexts) await printPages(t, context);
      throw error;
    } finally {
      for (const { context } of contexts) await context.close();
    }
    return undefined;
  };
}

/** What a failed test's pages showed at its end. */
async function printPages(t: TestContext, context: BrowserContext): Promise<void> {
  for (const page of context.pages()) {
    const text = await page.locator('body').innerText({ timeout: 1_000 }).catch(String);
    t.diagnostic(`${page.url()} shows: ${text.slice(0, 600)}`);
  }
}

/** A context whose pages are watched. */
async function openContext(
  browser: Browser,
  { width = 1_440, height = 900, colorScheme = 'light', before, expected, context: more }: OpenOptions,
): Promise<{ readonly context: BrowserContext; readonly watch: PageWatch }> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'no-preference',
    ...more,
  });
  if (before !== undefined) await context.addInitScript(before);
  context.setDefaultTimeout(actionMsMax);
  context.setDefaultNavigationTimeout(navigationMsMax);
  const watch = await PageWatch.attach(context, expected);
  return { context, watch };
}
