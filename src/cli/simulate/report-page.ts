import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Report } from '../../dashboard/report/report-data.ts';
import { dashboardAsset } from '../dashboard/assets.ts';

const entry = 'report/main.ts';

/** The page of a report, with the scripts and styles of the dashboard in it: it needs no other file and no network. */
export async function reportPage(report: Report): Promise<string> {
  const modules = await collectModules(entry, readAsset);
  const styles = await Promise.all(['lib/uPlot.min.css', 'style.css'].map(readAsset));
  return formatReportPage(report, { styles: styles.join('\n'), modules, entry: specifierOf(entry) }, hashOf);
}

async function readAsset(path: string): Promise<string | undefined> {
  return (await dashboardAsset(path))?.body;
}

/** Hash of a script, as in a Content-Security-Policy. */
function hashOf(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

/** `from './a.ts'` and `import './a.ts'`. */
const relativeImport = /(\b(?:from|import)\s*)(["'])(\.{1,2}\/[^"'\n]+)\2/gu;

/** By which an import map finds a module. */
function specifierOf(path: string): string {
  return `nlc/${path}`;
}

/**
 * The module at this path and all that it imports, directly or not. Imports by a relative path become imports by specifier.
 * Throws if a module does not exist.
 */
export async function collectModules(
  entry: string,
  read: (path: string) => Promise<string | undefined>,
): Promise<readonly PageModule[]> {
  const modules = new Map<string, PageModule>();
  const missing = [entry];
  for (let path = missing.pop(); path !== undefined; path = missing.pop()) {
    if (modules.has(path)) continue;
    const text = await read(path);
    if (text === undefined) throw new Error(`no module ${path} of the dashboard`);
    const folder = posix.dirname(path);
    const renamed = text.replaceAll(relativeImport, (_, keyword: string, quote: string, relative: string) => {
      const imported = posix.join(folder, relative);
      missing.push(imported);
      return `${keyword}${quote}${specifierOf(imported)}${quote}`;
    });
    modules.set(path, { specifier: specifierOf(path), text: renamed });
  }
  return [...modules.values()].sort((a, b) => (a.specifier < b.specifier ? -1 : 1));
}

/** A module of the page. */
interface PageModule {
  /** By which other modules import it. */
  readonly specifier: string;
  readonly text: string;
}

interface PageAssets {
  readonly styles: string;
  readonly modules: readonly PageModule[];
  /** Specifier of the module that draws the page. */
  readonly entry: string;
}

/** The inline scripts of the page, whose hashes its policy allows. */
interface PageScripts {
  readonly importMap: string;
  readonly start: string;
}

/** A module that imports its dependencies by specifier needs a map, because a file on disk cannot import its neighbours. */
function buildScripts({ modules, entry }: PageAssets): PageScripts {
  const imports = Object.fromEntries(
    modules.map(({ specifier, text }) => [specifier, `data:text/javascript,${encodeURIComponent(text)}`]),
  );
  return { importMap: formatJson({ imports }), start: `import ${JSON.stringify(entry)};` };
}

/** `hashOf`: of an inline script, as in a Content-Security-Policy. The same report and assets give the same bytes. */
export function formatReportPage(report: Report, assets: PageAssets, hashOf: (script: string) => string): string {
  const { importMap, start } = buildScripts(assets);
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(importMap)} ${hashOf(start)} data:`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const { name, text } = report;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${escapeHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(name)}</title>
<style>${assets.styles.replaceAll('</', '<\\/')}</style>
</head>
<body>
<div id="app"></div>
<noscript><h1>${escapeHtml(name)}</h1><pre>${escapeHtml(text)}</pre></noscript>
<script type="application/json" id="report-data">${formatJson(report)}</script>
<script type="importmap">${importMap}</script>
<script type="module">${start}</script>
</body>
</html>
`;
}

/** JSON in which no text can end a script element or begin a comment. */
function formatJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
