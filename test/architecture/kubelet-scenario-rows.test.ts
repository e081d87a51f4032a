import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

/**
 * Requirements of a hollow kubelet and its events, as numbered scenarios: A registration and reports, B conditions,
 * pressure and shutdown, C pod sources, D sync loop, E PLEG, F status manager, G life of a pod, H recorder and
 * broadcaster, I correlator and sink, J faults beside the node controller, K lease, L fleet. A test that shows one bears
 * its number at the end of its title, such as `[G5]`.
 */
const rows = { A: 20, B: 21, C: 22, D: 12, E: 11, F: 16, G: 14, H: 11, I: 16, J: 15, K: 10, L: 8 } as const;

/** Scenarios without a test, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  ...because('the volumes in use are not reported', 'A', [20]),
  ...because(
    'signals are memory and disk with the hard defaults; setters are fixed; no images',
    'B',
    [4, 5, 12, 13, 16],
  ),
  ...because('of kubelet 1.8 there are the heartbeats only', 'B', [21]),
  ...because('of kubelet 1.8 there are the heartbeats only', 'F', [14]),
  ...because('the mux sends changes only', 'C', [22]),
  ...because('the mux sends changes only', 'D', [2]),
  ...because('the recorder never blocks its callers: there is no blocking mode', 'H', [8]),
  ...because('nothing in the process reads recorded Events', 'H', [6, 7, 11]),
};

describe('the scenarios of the hollow kubelet', () => {
  const ids = Object.entries(rows).flatMap(([letter, count]) => range(1, count).map((number) => `${letter}${number}`));
  const shown = numbersInTitles();

  it('are 176', () => {
    assert.equal(ids.length, 176);
  });

  it('each have a test or an exception', () => {
    const left = ids.filter((id) => !shown.has(id) && exceptions[id] === undefined);
    assert.deepEqual(left, []);
  });

  it('with a test have no exception', () => {
    const left = Object.keys(exceptions).filter((id) => shown.has(id));
    assert.deepEqual(left, []);
  });

  it('are the only ones with a test or an exception', () => {
    const known = new Set(ids);
    const left = [...shown, ...Object.keys(exceptions)].filter((id) => !known.has(id));
    assert.deepEqual(left, []);
  });
});

/** Numbers at the end of titles, alone or several: `[G5]`, `[D3] [D10]`. */
function numbersInTitles(): ReadonlySet<string> {
  const tests = join(import.meta.dirname, '..');
  const files = globSync('**/*.test.ts', { cwd: tests }).filter((file) => !file.endsWith('scenario-rows.test.ts'));
  const titles = files.flatMap(
    (file) => readFileSync(join(tests, file), 'utf8').match(/(?:\s*\[[A-L]\d+\])+(?=['"`])/gu) ?? [],
  );
  return new Set(titles.flatMap((numbers) => numbers.match(/[A-L]\d+/gu) ?? []));
}

function because(reason: string, letter: keyof typeof rows, numbers: readonly number[]): Record<string, string> {
  return Object.fromEntries(numbers.map((number) => [`${letter}${number}`, reason]));
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
