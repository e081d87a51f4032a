// Runs before the npm scripts, on whatever Node.js they would run on: TypeScript sources need a recent one.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const least = Number(/\d+/u.exec(engines.node)?.[0]);
if (Number(process.versions.node.split('.')[0]) < least) {
  console.error(
    `node-lifecycle-controller: needs Node.js ${engines.node} (got ${process.versions.node} at ${process.execPath}).\n` +
      '`npm ci` installs one into node_modules; run commands with `npm run`, or put node_modules/.bin first in PATH.',
  );
  process.exit(1);
}
