import assert from 'node:assert/strict';
import { test } from 'node:test';
import { YamlProblem } from '../../../../src/machinery/yaml/value-builder.ts';
import { readYaml, readYamlDocuments, type YamlDialect } from '../../../../src/machinery/yaml/yaml-reader.ts';
import { aliasBomb, deepTexts } from '../../../support/hostile-texts.ts';

const valueOf = (text: string, dialect: YamlDialect = 'kubernetes'): unknown => readYaml(text, dialect).value;
const repeatedIn = (text: string): unknown => readYaml(text, 'kubernetes').repeated;

/** [text, as kubelets and kube-apiserver read it, as YAML 1.2]. */
const scalars: readonly (readonly [string, unknown, unknown])[] = [
  ['0400', 256, 400],
  ['0644', 420, 644],
  ['0o17', 15, 15],
  ['-0o17', -15, '-0o17'],
  ['08', 8, 8],
  ['1_0', 10, '1_0'],
  ['0x1F', 31, 31],
  ['0b11', 3, '0b11'],
  ['yes', true, 'yes'],
  ['On', true, 'On'],
  ['n', false, 'n'],
  ['12:30', '12:30', '12:30'],
  ['2026-01-02', '2026-01-02', '2026-01-02'],
  ['"yes"', 'yes', 'yes'],
  ['~', null, null],
  ['1.5', 1.5, 1.5],
  ['!!binary aGk=', 'hi', 'hi'],
];
for (const [text, kubernetes, core] of scalars) {
  test(`${text} is ${JSON.stringify(kubernetes)} in a file of Kubernetes, and ${JSON.stringify(core)} in YAML 1.2`, () => {
    assert.deepEqual(valueOf(`a: ${text}`), { a: kubernetes });
    assert.deepEqual(valueOf(`a: ${text}`, 'core'), { a: core });
  });
}

test('of a key that occurs twice the last one counts, and it is reported, in YAML and JSON', () => {
  const both = { value: { a: 3, b: 2 }, repeated: [{ key: 'a', line: 3 }] };
  assert.deepEqual(readYaml('a: 1\nb: 2\na: 3\n', 'core'), both);
  assert.deepEqual(readYaml('{"a": 1,\n"b": 2,\n"\\u0061": 3}', 'core'), both);
  assert.deepEqual(repeatedIn('{"a": {"b": 1}, "c": [{"b": 2}, {"b": "a"}], "b": "{\\"c\\":"}'), []);
  assert.deepEqual(repeatedIn('{a: {b: 1, b: 2}}'), [{ key: 'b', line: 1 }]);
});

test('keys are texts; keys that objects inherit are keys like others', () => {
  assert.deepEqual(valueOf('1: a\nyes: b\n1.5: c\n'), { '1': 'a', true: 'b', '1.5': 'c' });
  assert.deepEqual(Object.keys(valueOf('__proto__: {x: 1}\nconstructor: 1\n') as object), ['__proto__', 'constructor']);
  for (const text of ['[a]: b', '~: b', '? {a: b}\n: c']) assert.throws(() => valueOf(text), /invalid map key/u, text);
});

test('a merge key merges mappings, and what comes later in the mapping takes precedence', () => {
  const text =
    'x: &x {p: 1, q: 2}\nu: {<<: *x, q: 3}\nz: {<<: [*x, {q: 9, r: 1}]}\nw: {q: 4, <<: {q: 5}}\nv: {"<<": 1}\n';
  for (const dialect of ['kubernetes', 'core'] as const) {
    const { value, repeated } = readYaml(text, dialect);
    const merged = { u: { p: 1, q: 3 }, z: { p: 1, q: 2, r: 1 }, w: { q: 5 }, v: { '<<': 1 } };
    assert.deepEqual([value, repeated], [{ x: { p: 1, q: 2 }, ...merged }, []]);
  }
  assert.throws(() => valueOf('a: {<<: 1}'), /map merge requires map or sequence of maps as the value/u);
});

test('an alias is a copy of the last anchor before it', () => {
  const value = valueOf('- &a {x: 1}\n- *a\n- &a 2\n- *a\n') as { x: number }[];
  assert.deepEqual(value, [{ x: 1 }, { x: 1 }, 2, 2]);
  assert.notEqual(value[0], value[1]);
  for (const text of ['*a', 'a: &a [*a]']) assert.throws(() => valueOf(text), /unknown anchor 'a' referenced/u);
});

test('empty documents are left out, and each invalid document has a problem', () => {
  assert.deepEqual(
    ['', '# x', '---\n---\n'].map((text) => valueOf(text)),
    [null, null, null],
  );
  assert.deepEqual(valueOf('---\na: b\n---\n'), { a: 'b' });
  assert.throws(() => valueOf('a: 1\n---\nb: 2\n'), /documents: must be exactly 1 \(got 2\)/u);
  const documents = readYamlDocuments('a: 1\n---\nb: [\n---\nc: 3\n', 'core');
  assert.deepEqual(
    documents.map((document) => (document instanceof YamlProblem ? 'problem' : document.value)),
    [{ a: 1 }, 'problem', { c: 3 }],
  );
  assert.throws(() => valueOf('a: 1\nb: c: d\n'), /^Error: line 2: Nested mappings/u);
});

test('alias bombs, deep nesting and texts with too many tokens are problems', () => {
  assert.throws(() => valueOf(aliasBomb), new YamlProblem('document contains more than 100000 values'));
  for (const [name, text] of Object.entries(deepTexts)) {
    for (const dialect of ['kubernetes', 'core'] as const)
      assert.throws(() => valueOf(text, dialect), YamlProblem, name);
  }
  assert.throws(() => valueOf('- a\n'.repeat(50_000)), /must have at most 100000 tokens/u);
  for (const text of ['['.repeat(400) + ']'.repeat(400), `${'- '.repeat(400)}a`])
    assert.ok(Array.isArray(valueOf(text)));
});

test('one mapping with many keys, aliases and merges takes as long as many small ones', () => {
  const fields = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `k${at}: *a`);
  const time = (text: string): number => {
    const started = performance.now();
    valueOf(text);
    return performance.now() - started;
  };
  const small = Array.from({ length: 80 }, () => `- {<<: *m, ${fields(80).join(', ')}}`).join('\n');
  const texts = {
    small: `- &a x\n- &m {b: c}\n${small}`,
    large: `- &a x\n- &m {b: c}\n- {<<: *m, ${fields(6_400).join(', ')}}`,
  };
  time(texts.small);
  const times = { small: time(texts.small), large: time(texts.large) };
  // A comparison of each key with all before it takes 80 times as long.
  assert.ok(times.large < 10 * times.small, JSON.stringify(times));
});

test('integers have the form that the caller gives them, in YAML and JSON', () => {
  const forms = { parseJson: () => ({ a: 'exact' }), integer: (value: bigint) => String(value) };
  assert.deepEqual(readYaml('a: 9223372036854775807', 'kubernetes', forms).value, { a: '9223372036854775807' });
  assert.deepEqual(readYaml('{"a": 1}', 'kubernetes', forms).value, { a: 'exact' });
  assert.deepEqual(valueOf('a: 9007199254740993'), { a: 9007199254740992 });
});
