// How the image starts the program, so that a bench runs it with the same options of Node.js.
import { posix } from 'node:path';

/** The options of Node.js and the environment of the image. Both may name files in the program's folder. */
interface ImageStart {
  /** The folder of the program in the image. */
  readonly folder: string;
  readonly nodeArgs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Reads ENTRYPOINT and ENV of the last stage of a Containerfile. Throws if the entry point is not Node.js with a script. */
export function parseImage(containerfile: string): ImageStart {
  const lines = containerfile.replaceAll(/\\\n\s*/gu, '').split('\n');
  const stage = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const entrypoint = stage.find((line) => line.startsWith('ENTRYPOINT '))?.slice('ENTRYPOINT '.length) ?? '[]';
  const command = JSON.parse(entrypoint) as readonly string[];
  const script = command.at(-1) ?? '';
  if (!command[0]?.endsWith('/node') || !script.endsWith('.js'))
    throw new Error(`ENTRYPOINT: must be node, its options and a script (got ${entrypoint})`);
  return {
    folder: posix.dirname(script),
    nodeArgs: command.slice(1, -1),
    env: Object.fromEntries(stage.flatMap(settingsIn)),
  };
}

function settingsIn(line: string): readonly (readonly [string, string])[] {
  if (!line.startsWith('ENV ')) return [];
  return [...line.slice('ENV '.length).matchAll(/(\w+)=(?:"([^"]*)"|(\S*))/gu)].map(
    ([, name = '', quoted, plain = '']) => [name, quoted ?? plain],
  );
}
