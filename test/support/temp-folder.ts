import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** A new folder, removed at the end of the test or of the file. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
