import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Report } from '../../dashboard/report/report-data.ts';
import { dashboardAsset } from '../dashboard/assets.ts';
import { formatReportPage, type PageModule } from './format-report-page.ts';

const entry = 'report/main.ts';

/** The page of a report, with the scripts and styles of the dashboard in it. */
export async function reportPage(report: Report): Promise<string> {
  const modules = await collectModules(entry, readAsset);
  const styles = await Promise.all(['lib/uPlot.min.css', 'style.css'].map(readAsset));
  return formatReportPage(report, { styles: styles.join('\n'), modules, entry: specifierOf(entry) }, hashOf);
}

async function readAsset(path: string): Promise<string | undefined> {
  return (await dashboardAsset(path))?.body;
}

/** As in a Content-Security-Policy. */
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
