import { createHash } from 'node:crypto';
import type { Report } from '../../dashboard/report/report-data.ts';
import { dashboardAsset } from '../dashboard/assets.ts';
import { collectModules, specifierOf } from './collect-modules.ts';
import { formatReportPage } from './format-report-page.ts';

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
