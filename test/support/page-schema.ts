// Holds pages of explanations against docs/pages.schema.json.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Pages } from '../../src/controller/report/pages.ts';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];

interface PagesSchema {
  readonly definitions: { readonly Pages: { readonly properties: Readonly<Record<keyof Pages, object>> } };
}

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'pages.schema.json'), 'utf8');
const schema = JSON.parse(text) as PagesSchema;
const pages = new Map<keyof Pages, z.ZodType>();

/** The page as a client reads it; fails where it is not as the schema says. */
export function checkedPage<Path extends keyof Pages>(path: Path, page: Pages[Path]): Pages[Path] {
  const checked =
    pages.get(path) ??
    z.fromJSONSchema({ ...schema, $ref: undefined, ...schema.definitions.Pages.properties[path] } as JsonSchema);
  pages.set(path, checked);
  const result = checked.safeParse(JSON.parse(JSON.stringify(page)));
  assert.ok(result.success, `${path}: ${result.success ? '' : z.prettifyError(result.error)}`);
  return page;
}
