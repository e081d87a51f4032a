// Plain objects inherit `constructor`, `toString` and others, which are valid keys of labels, taints and data: records with
// keys of type string are read by `ownValue`, filled by `setOwn` and asked by `Object.hasOwn`.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..');

/** Files that read or fill plain objects themselves, and why that is safe. */
const exempt: ReadonlyMap<string, string> = new Map([
  ['src/machinery/api/json-map.ts', 'ownValue and setOwn'],
  ['src/machinery/wire/protobuf-meta.ts', 'fills a copy of an object that has the keys'],
  ['src/machinery/wire/protobuf-objects.ts', 'fills fields that its own tables name'],
]);

const options: ts.CompilerOptions = {
  allowImportingTsExtensions: true,
  lib: ['lib.es2024.d.ts'],
  module: ts.ModuleKind.NodeNext,
  noEmit: true,
  noUncheckedIndexedAccess: true,
  strict: true,
  target: ts.ScriptTarget.ES2024,
  types: [],
};

/** The types of packages are not read, which would take several times as long. */
function programOf(files: readonly string[], texts: ReadonlyMap<string, string> = new Map()): ts.Program {
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  host.fileExists = (name) => texts.has(name) || disk.fileExists(name);
  host.getSourceFile = (name, version) => {
    const text = texts.get(name);
    return text === undefined ? disk.getSourceFile(name, version) : ts.createSourceFile(name, text, version, true);
  };
  host.resolveModuleNameLiterals = (names, importer) =>
    names.map(({ text }) => {
      if (!text.startsWith('.') || !text.endsWith('.ts')) return { resolvedModule: undefined };
      const resolvedFileName = resolve(dirname(importer), text);
      return { resolvedModule: { resolvedFileName, extension: ts.Extension.Ts, isExternalLibraryImport: false } };
    });
  return ts.createProgram({ rootNames: [...files, ...texts.keys()], options, host });
}

/** Places where a key of type string meets the prototype of a record. */
function findPlaces(program: ts.Program): readonly string[] {
  const checker = program.getTypeChecker();
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (meetsPrototype(node, checker)) {
      const file = node.getSourceFile();
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${file.fileName.slice(root.length + 1)}:${line + 1}: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  for (const file of program.getSourceFiles()) {
    const path = file.fileName.slice(root.length + 1);
    if (path.startsWith('src/') && !exempt.has(path)) visit(file);
  }
  return found;
}

function meetsPrototype(node: ts.Node, checker: ts.TypeChecker): boolean {
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword) {
    return !ts.isPrivateIdentifier(node.left) && isText(checker.getTypeAtLocation(node.left));
  }
  if (!ts.isElementAccessExpression(node) || ts.isDeleteExpression(node.parent)) return false;
  if (!isText(checker.getTypeAtLocation(node.argumentExpression)) || isOwnKey(node)) return false;
  const record = checker.getNonNullableType(checker.getTypeAtLocation(node.expression));
  return checker.getIndexInfosOfType(record).some(({ keyType }) => isText(keyType));
}

/** Any string, not one of a few literals. */
function isText(type: ts.Type): boolean {
  if (type.isUnion()) return type.types.some(isText);
  return (type.flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) !== 0;
}

/** Whether the key comes from a loop over the keys of the same record, or was asked of it by `Object.hasOwn`. */
function isOwnKey({ expression, argumentExpression }: ts.ElementAccessExpression): boolean {
  const [record, key] = [expression.getText(), argumentExpression.getText()];
  for (let node: ts.Node = expression; !ts.isSourceFile(node); node = node.parent) {
    if (ts.isBinaryExpression(node) && node.left.getText() === `Object.hasOwn(${record}, ${key})`) return true;
    if (!ts.isForInStatement(node) && !ts.isForOfStatement(node)) continue;
    const keys = ts.isForInStatement(node) ? record : `Object.keys(${record})`;
    if (node.initializer.getText() === `const ${key}` && node.expression.getText() === keys) return true;
  }
  return false;
}

test('records are read and filled by keys from outside without their prototype', () => {
  const places = findPlaces(programOf(globSync('src/**/*.ts', { cwd: root }).map((path) => join(root, path))));
  assert.deepEqual(places, [], 'use ownValue, setOwn or Object.hasOwn');
});

test('the check finds reads, writes and questions, and no keys that are known', () => {
  const text = `
    declare const labels: Record<string, string>; declare const key: string; declare const list: string[];
    labels[key];
    labels[key] = '';
    key in labels;
    labels['a']; list[0]; delete labels[key]; 'a' in labels;
    for (const own of Object.keys(labels)) labels[own];
    for (const own in labels) labels[own];
    export const value = Object.hasOwn(labels, key) && labels[key];
  `;
  const places = findPlaces(programOf([], new Map([[join(root, 'src/example.ts'), text]])));
  assert.deepEqual(
    places.map((place) => place.replace(/^.*: /, '')),
    ['labels[key]', 'labels[key]', 'key in labels'],
  );
});
