import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkVersions, extractNotes } from '../../../../tools/release/extract-notes.ts';

const changelog = `# Changelog

## Unreleased

## 0.2.0 (2026-12-01)

### Added

- A mode.

## 0.1.0 (2026-11-01)

### Added

- Everything.

## 0.0.1
`;

test('the notes are the section of the version, from its heading to the next', () => {
  assert.equal(extractNotes(changelog, '0.2.0'), '### Added\n\n- A mode.\n');
  assert.equal(extractNotes(changelog, '0.1.0'), '### Added\n\n- Everything.\n');
});

test('a missing and an empty section are errors that name the version', () => {
  assert.throws(
    () => extractNotes(changelog, '0.3.0'),
    /no section "## 0.3.0" \(sections: Unreleased, 0.2.0, 0.1.0, 0.0.1\)/,
  );
  assert.throws(() => extractNotes(changelog, '0.0.1'), /"## 0.0.1" is empty/);
});

test('all files must have the version of the tag', () => {
  assert.equal(checkVersions({ tag: 'v1.2.3', a: '1.2.3', b: '1.2.3' }), '1.2.3');
  assert.throws(
    () => checkVersions({ tag: 'v1.2.3', a: '1.2.3', b: '1.2.2' }),
    /^Error: b: version must be 1.2.3 \(got 1.2.2\)$/,
  );
  assert.throws(() => checkVersions({ tag: '1.2.3', a: '1.2.3' }), /tag: must be vX.Y.Z \(got 1.2.3\)/);
});
