// Brings the pinned packages into the user's cache: a part of `npm run image`. Debian packages are downloaded with apt, Node.js with
// npm. Exit codes: 0 success, 1 a wrong checksum, 4 not reachable (0 with --optional).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  cachedDebian,
  cachedNode,
  inputsFolder,
  integrityOf,
  missingInputs,
  verifyIntegrity,
} from './cached-inputs.ts';
import { architectures, type DebianPackage, type NodePackage, type PinnedInputs, readPins } from './pinned-inputs.ts';

const exitCodes = { done: 0, failed: 1, notReachable: 4 } as const;
const aptHelper = '/usr/lib/apt/apt-helper';

process.exitCode = main(process.argv.includes('--optional'));

function main(optional: boolean): number {
  const pins = readPins();
  if (missingInputs(pins) === undefined) return exitCodes.done;
  mkdirSync(inputsFolder(), { recursive: true });
  const folder = mkdtempSync(join(inputsFolder(), 'unfinished-'));
  try {
    const failed = fetchAll(pins, folder);
    if (failed === undefined) return exitCodes.done;
    console.log(`image: ${failed}`);
    return optional ? exitCodes.done : exitCodes.notReachable;
  } catch (error) {
    console.error(`image: ${error instanceof Error ? error.message : String(error)}`);
    return exitCodes.failed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first package that is not reachable, and why. */
function fetchAll(pins: PinnedInputs, folder: string): string | undefined {
  for (const one of pins.debian.packages) {
    const failed = existsSync(cachedDebian(one)) ? undefined : fetchDebian(one, pins.debian.snapshot, folder);
    if (failed !== undefined) return failed;
  }
  for (const architecture of architectures) {
    const one = pins.node[architecture];
    const failed = existsSync(cachedNode(one)) ? undefined : fetchNode(one, pins.node.version, folder);
    if (failed !== undefined) return failed;
  }
  return undefined;
}

/** A mirror has the current packages, the archive of the mirrors all that were current once. */
function fetchDebian(one: DebianPackage, snapshot: string, folder: string): string | undefined {
  const [archive = '', ...rest] = one.path.split('/');
  const addresses = [
    `http://deb.debian.org/${one.path}`,
    `https://snapshot.debian.org/archive/${archive}/${snapshot}/${rest.join('/')}`,
  ];
  const file = join(folder, 'package.deb');
  let reason = '';
  for (const address of addresses) {
    const options = ['-oAPT::Sandbox::User=', '-oAcquire::Retries=1', '-oAcquire::http::Timeout=20'];
    const args = [...options, 'download-file', address, file, `SHA256:${one.sha256}`];
    const { status, stderr, error } = spawnSync(aptHelper, args, { encoding: 'utf8' });
    if (status === 0) return keep(file, integrityOf(one), cachedDebian(one));
    reason = error?.message ?? stderr.trim();
  }
  return `${one.name} ${one.version} (${one.architecture}) cannot be downloaded: ${reason}`;
}

function fetchNode({ name, integrity }: NodePackage, version: string, folder: string): string | undefined {
  // A transfer that stalls is begun again: by default it is waited for five minutes.
  const limits = ['--fetch-timeout=60000', '--fetch-retries=3'];
  const args = ['pack', '--silent', ...limits, '--pack-destination', folder, `${name}@${version}`];
  const { status, stderr, error } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  const packed = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  if (status !== 0 || packed === undefined)
    return `${name} ${version} cannot be downloaded: ${error?.message ?? stderr.trim()}`;
  return keep(join(folder, packed), integrity, cachedNode({ name, integrity }));
}

function keep(file: string, integrity: string, cached: string): undefined {
  verifyIntegrity(file, integrity);
  renameSync(file, cached);
}
