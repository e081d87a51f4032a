import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePages } from './reference-pages.ts';

for (const { path, text } of await referencePages()) {
  writeFileSync(join(import.meta.dirname, '..', '..', path), text);
  console.log(`wrote ${path}`);
}
