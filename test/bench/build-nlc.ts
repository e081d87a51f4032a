// The program as it is shipped: the bundle, started as in the image.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseImage } from './parse-image.ts';

const root = join(import.meta.dirname, '..', '..');

/** Bundles the program into a subfolder; returns the script. */
export function buildNlc(folder: string): string {
  const dist = join(folder, 'dist');
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'tools/bundle/build.ts'), dist]);
  if (status !== 0) throw new Error(`the build failed: ${stderr.toString()}`);
  return join(dist, 'nlc.js');
}

/**
 * A command with the environment and the options of Node.js of the image, and `extra` options. `env` replaces itself by the
 * program, so that both have one process id.
 */
export function imageCommand(
  script: string,
  args: readonly string[],
  extra: readonly string[] = [],
): readonly [string, ...string[]] {
  const { folder, nodeArgs, env } = parseImage(readFileSync(join(root, 'Containerfile'), 'utf8'));
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const ofImage = [...settings, process.execPath, ...nodeArgs].map((text) =>
    text.replaceAll(`${folder}/`, `${dirname(script)}/`),
  );
  return ['/usr/bin/env', ...ofImage, ...extra, script, ...args];
}
