// The JSON schema of the pages of explanations, from their types. `npm run docs` writes it; a test compares it, and others hold real
// pages against it.
import { join } from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';

const root = join(import.meta.dirname, '..', '..');

export function pagesSchemaText(): string {
  const generator = createGenerator({
    path: join(root, 'src/controller/report/pages.ts'),
    tsconfig: join(root, 'tsconfig.json'),
    type: 'Pages',
    // The compiler of the project checks types; this one only reads them.
    skipTypeCheck: true,
  });
  return `${JSON.stringify(generator.createSchema('Pages'), undefined, 2)}\n`;
}
