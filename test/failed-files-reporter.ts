// A node:test reporter: the files with a failed test, one a line.
import type { TestEvent } from 'node:test/reporters';

/** Yields the path of each file once, at its first failed test; node:test loads a reporter as the default export. */
// oxlint-disable-next-line import/no-default-export
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const { type, data } of events) {
    const file = type === 'test:fail' ? data.file : undefined;
    if (file === undefined || seen.has(file)) continue;
    seen.add(file);
    yield `${file}\n`;
  }
}
