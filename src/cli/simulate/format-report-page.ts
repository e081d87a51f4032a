// The page of a simulation: one file that needs no other file and no network.
import type { Report } from '../../dashboard/report/report-data.ts';

/** A module of the page. */
export interface PageModule {
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
