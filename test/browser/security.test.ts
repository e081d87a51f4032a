import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { inBrowser } from './browser.ts';
import { DashboardPage } from './dashboard-page.ts';
import type { PageGlobals } from './page-globals.ts';
import { SyntheticServer } from './synthetic-server.ts';

test(
  'the policy of the page is in force: an inline script and another origin are blocked',
  inBrowser(async ({ open, use }) => {
    const server = use(await SyntheticServer.start({ zones: 1, nodesPerZone: 3 }));
    const expected = /violat|Content.Security.Policy|127\.0\.0\.1:9|Failed to load resource|Failed to fetch/i;
    const page = await open(server.url, { expected });
    await new DashboardPage(page).isLive();
    const blocked = await page.evaluate(async () => {
      const { document, Image } = globalThis as unknown as PageGlobals;
      const seen: string[] = [];
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => seen.push(effectiveDirective));
      const script = document.createElement('script');
      script.textContent = 'document.title = "changed"';
      document.body.append(script);
      const image = new Image();
      image.src = 'http://127.0.0.1:9/pixel.png';
      await fetch('http://127.0.0.1:9/').catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { seen, title: document.title };
    });
    assert.deepEqual([...blocked.seen].sort(), ['connect-src', 'img-src', 'script-src-elem']);
    assert.notEqual(blocked.title, 'changed');
  }),
);

test(
  'a page in a frame of another origin shows nothing',
  inBrowser(async ({ t, open, use }) => {
    const server = use(await SyntheticServer.start({ zones: 1, nodesPerZone: 3 }));
    const framing = await serve(t, `<!doctype html><title>frame</title><iframe src="${server.url}"></iframe>`);
    const page = await open(framing, { expected: /frame-ancestors|another origin|chrome-error/i });
    await page.waitForLoadState('networkidle');
    const frame = page.frames().find((each) => each !== page.mainFrame());
    assert.equal(await frame?.getByRole('main').count(), 0);
  }),
);

test(
  'the page works below a path prefix: every address in it is relative',
  inBrowser(async ({ t, open, use }) => {
    const server = use(await SyntheticServer.start({ zones: 2, nodesPerZone: 3 }));
    const prefix = '/a1b2c3';
    const page = await open(`${await proxy(t, prefix, new URL(server.url).port)}/dashboard`);
    const dashboard = new DashboardPage(page);
    await dashboard.isLive();
    await page.goto(`${page.url().split('#')[0]}#/nodes/z1-node-0001`);
    await page.getByRole('table', { name: 'Countdowns' }).waitFor();
  }),
);

/** A server of one HTML page; its address. */
async function serve(t: TestContext, html: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A proxy that removes a prefix and refuses every other path, as `kubectl proxy` does; its address with the prefix. */
async function proxy(t: TestContext, prefix: string, port: string): Promise<string> {
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '';
    if (!path.startsWith(`${prefix}/`)) return void response.writeHead(404).end();
    const headers = incoming.headers;
    const outgoing = request({
      host: '127.0.0.1',
      port,
      path: path.slice(prefix.length),
      method: incoming.method,
      headers,
    });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
}
