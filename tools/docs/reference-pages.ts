// All generated pages: references in docs/ and files of the chart. `npm run docs` writes them; a test compares them.
import { describeFlags } from './flag-reference.ts';
import { chartPages } from './chart-pages.ts';
import { configFileSchemaText } from './config-file-schema.ts';
import { differencesPage } from './differences-page.ts';
import { eventsPage } from './events-page.ts';
import { metricsPage } from './metrics-page.ts';
import type { Page } from './page.ts';
import { pagesSchemaText } from './pages-schema.ts';
import { testIndexPage } from './test-index.ts';

export async function referencePages(): Promise<readonly Page[]> {
  return [
    { path: 'docs/flags.md', text: await describeFlags() },
    { path: 'docs/config.schema.json', text: configFileSchemaText() },
    { path: 'docs/pages.schema.json', text: pagesSchemaText() },
    { path: 'docs/metrics.md', text: await metricsPage() },
    { path: 'docs/differences.md', text: differencesPage() },
    { path: 'docs/events.md', text: eventsPage() },
    { path: 'docs/test-index.md', text: testIndexPage() },
    ...chartPages(),
  ];
}
