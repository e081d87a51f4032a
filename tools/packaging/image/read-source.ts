import { spawnSync } from 'node:child_process';
import type { Source } from './build-provenance.ts';

interface DatedSource extends Source {
  /** SOURCE_DATE_EPOCH if it is set, else the time of the commit. */
  readonly created: Date;
}

/** The commit of the repository in this folder; throws if there is neither a commit nor SOURCE_DATE_EPOCH. */
export function readSource(root: string, url: string | undefined): DatedSource {
  const [commit, seconds] = git(root, ['log', '-1', '--format=%H %ct'])?.split(' ') ?? [];
  const changed = git(root, ['status', '--porcelain', '--untracked-files=no']) !== '';
  const epoch = process.env['SOURCE_DATE_EPOCH'] || seconds;
  if (epoch === undefined)
    throw new Error('no git commit: set SOURCE_DATE_EPOCH to the time of the source, in Unix seconds');
  if (!/^\d{1,11}$/.test(epoch)) throw new Error(`SOURCE_DATE_EPOCH: must be Unix seconds (got ${epoch})`);
  return { url, commit, changed: commit !== undefined && changed, created: new Date(Number(epoch) * 1_000) };
}

/** Undefined if git fails: no repository, no commit, or no git. */
function git(cwd: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
