import type { BrowserContext, Page, Request, Response } from 'playwright-core';
import type { PageGlobals } from './page-globals.ts';

/** The policy of every response of the dashboard. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Of the answers to actions, which are JSON. */
const actionsPolicy = "default-src 'none'; frame-ancestors 'none'";

const requiredHeaders = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Records what no page of this project may do, in all pages of a context. */
export class PageWatch {
  readonly #context: BrowserContext;
  readonly #expected: RegExp | undefined;
  readonly #origins = new Set<string>();
  readonly #problems: string[] = [];

  private constructor(context: BrowserContext, expected: RegExp | undefined) {
    this.#context = context;
    this.#expected = expected;
  }

  static async attach(context: BrowserContext, expected?: RegExp): Promise<PageWatch> {
    const watch = new PageWatch(context, expected);
    await context.exposeBinding('reportPolicyViolation', (_source, text: string) =>
      watch.#add(`policy violation: ${text}`),
    );
    await context.addInitScript(reportPolicyViolations);
    context.on('page', (page) => watch.#watchPage(page));
    context.on('request', (request) => watch.#checkOrigin(request));
    context.on('response', (response) => watch.#checkHeaders(response));
    return watch;
  }

  /** A page of this origin is opened by the test; every other origin is a problem. */
  allow(url: string): void {
    this.#origins.add(originOf(url));
  }

  /** All problems so far, with the cookies that pages have set. */
  async problems(): Promise<readonly string[]> {
    const cookies = await this.#context.cookies();
    return [...this.#problems, ...cookies.map(({ name }) => `cookie: ${name}`)];
  }

  #watchPage(page: Page): void {
    page.on('pageerror', (error) => this.#add(`error in a script: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        this.#add(`console: ${message.text()} (${message.location().url})`);
    });
    page.on('crash', () => this.#add('the page crashed'));
    page.on('dialog', (dialog) => {
      this.#add(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  #checkOrigin(request: Request): void {
    const { protocol } = new URL(request.url());
    if (protocol === 'data:' || protocol === 'blob:') return;
    if (!this.#origins.has(originOf(request.url()))) this.#add(`request to another origin: ${request.url()}`);
  }

  #checkHeaders(response: Response): void {
    const { pathname, protocol } = new URL(response.url());
    const headers = response.headers();
    if (headers['set-cookie'] !== undefined) this.#add(`set-cookie: ${pathname}`);
    if (!protocol.startsWith('http') || !/^\/dashboard(?:\/|$)/.test(pathname)) return;
    const policy = pathname === '/dashboard/actions' ? actionsPolicy : contentSecurityPolicy;
    for (const [name, value] of Object.entries({ 'content-security-policy': policy, ...requiredHeaders }))
      if (headers[name] !== value) this.#add(`${pathname}: ${name} is ${headers[name] ?? 'missing'}`);
  }

  #add(problem: string): void {
    if (this.#expected?.test(problem) !== true) this.#problems.push(problem);
  }
}

/** The file itself, without query and hash, where it is a file: other files are other origins. */
function originOf(url: string): string {
  const { origin, pathname, protocol } = new URL(url);
  return protocol === 'file:' ? `file:${pathname}` : origin;
}

/** Runs in the page, before its own scripts. */
function reportPolicyViolations(): void {
  const page = globalThis as unknown as PageGlobals & { reportPolicyViolation(text: string): void };
  page.document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) => {
    page.reportPolicyViolation(`${effectiveDirective} ${blockedURI} ${sample}`);
  });
}
