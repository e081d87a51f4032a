import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestPages } from './manifest-pages.ts';
import { root } from './render.ts';

for (const { path, text } of manifestPages()) {
  writeFileSync(join(root, path), text);
  console.log(`wrote ${path}`);
}
