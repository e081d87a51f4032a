import process from 'node:process';
import chromiumPackage from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import type { Chromium } from './chromium.ts';

/**
 * Flags of the package that are for other uses: those that switch off what these tests check, and a single process, which ends
 * when the first context is closed.
 */
const leftOut = [
  /^--disable-web-security$/,
  /^--allow-running-insecure-content$/,
  /^--(?:single-process|no-zygote|in-process-gpu)$/,
  /^--headless/,
];

/** Starts Chromium. Closing it, or the end of this process, kills it by its process id. */
export function startBrowser({ executablePath, env }: Chromium): Promise<Browser> {
  const args = chromiumPackage.args.filter((arg) => !leftOut.some((pattern) => pattern.test(arg)));
  return chromium.launch({ executablePath, args, headless: true, env: { ...process.env, ...env } });
}
