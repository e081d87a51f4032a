import { availableParallelism, cpus, release, totalmem } from 'node:os';

/** The machine and the version of Node.js on which figures were measured. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return `${availableParallelism()} cores (${model}), ${memory}, Linux ${release()}, Node.js ${process.versions.node}`;
}
