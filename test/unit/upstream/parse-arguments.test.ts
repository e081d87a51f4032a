import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseArguments } from '../../upstream/parse-arguments.ts';

describe('the command line of test:upstream', () => {
  it('runs all suites by default, or the named ones in the usual order', () => {
    assert.deepEqual(parseArguments([]), {
      suites: ['integration', 'e2e', 'e2e-embedded'],
      focus: undefined,
      explain: false,
      help: false,
    });
    const named = parseArguments(['--suite', 'e2e-embedded', '--suite=integration', '--focus', 'Job']);
    assert.deepEqual(named, { suites: ['integration', 'e2e-embedded'], focus: 'Job', explain: false, help: false });
    assert.equal(parseArguments(['--explain']).explain, true);
  });

  for (const [args, message] of [
    [['--suite', 'unit'], /--suite: must be one of integration, e2e, e2e-embedded \(got unit\)/],
    [['--focus', ''], /--focus: must be a regular expression \(got ""\)/],
    [['--focus', '(a'], /--focus: must be a regular expression \(got "\(a"\)/],
    [['--explain', '--suite', 'e2e'], /--explain: runs nothing/],
    [['--nodes', '3'], /Unknown option '--nodes'/],
    [['e2e'], /Unexpected argument 'e2e'/],
  ] as const) {
    it(`rejects ${args.join(' ')}`, () => assert.throws(() => parseArguments(args), message));
  }
});
