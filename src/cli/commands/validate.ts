import { readFileSync } from 'node:fs';
import { type CommandIo, exitSuccess, usageError } from '../io/command-io.ts';
import { parseControllerConfig } from '../controller/config.ts';

/** `nlc validate FILE`: checks a config file, its policies included, without a cluster. */
export function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const [file, ...others] = argv;
  if (file === undefined || file.startsWith('-') || others.length > 0) {
    const got = argv.length === 0 ? 'got none' : `got ${argv.map((word) => JSON.stringify(word)).join(', ')}`;
    return Promise.resolve(usageError(io, 'validate', [`FILE: must be one config file (${got})`], 'arguments'));
  }
  const parsed = parseControllerConfig([`--config=${file}`], (path) => readFileSync(path, 'utf8'));
  if ('problems' in parsed) return Promise.resolve(usageError(io, 'validate', parsed.problems, 'configuration'));
  for (const warning of parsed.warnings) io.stderr(`nlc validate: warning: ${warning}\n`);
  io.stdout('the configuration is valid\n');
  return Promise.resolve(exitSuccess);
}
