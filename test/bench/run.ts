// `npm run bench`: all benches, one after another.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const benches = ['informer.ts', 'takeover.ts', 'resync.ts', 'simulator.ts', 'field-owners.ts', 'encoding.ts'];

for (const bench of benches) {
  console.log(`\n=== ${bench}`);
  const args = [join(import.meta.dirname, bench), ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
