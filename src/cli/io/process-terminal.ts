import type { ReadStream, WriteStream } from 'node:tty';
import type { Terminal } from './command-io.ts';

/** Size of a terminal that does not report one. */
const defaultSize = { columns: 80, rows: 24 };

/** The terminal of this process; undefined unless standard input and output are both one. */
export function processTerminal(input: ReadStream, output: WriteStream): Terminal | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  return {
    size: () => ({ columns: output.columns || defaultSize.columns, rows: output.rows || defaultSize.rows }),
    readKeys: (listener) => readKeys(input, listener),
    onResize: (listener) => {
      output.on('resize', listener);
      return () => void output.off('resize', listener);
    },
    onExit: (listener) => {
      process.on('exit', listener);
      return () => void process.off('exit', listener);
    },
  };
}

function readKeys(input: ReadStream, listener: (keys: string) => void): () => void {
  const receive = (keys: Buffer): void => listener(keys.toString('utf8'));
  input.setRawMode(true);
  input.on('data', receive);
  input.resume();
  return () => {
    input.off('data', receive);
    input.setRawMode(false);
    input.pause();
  };
}
