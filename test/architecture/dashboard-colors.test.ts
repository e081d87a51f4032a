// The contrast of the dashboard's colors in both themes, by WCAG 2 AA: 4.5 for text, 3 for what is no text.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeStates } from '../../src/dashboard/protocol.ts';

const css = readFileSync(join(import.meta.dirname, '..', '..', 'src', 'dashboard', 'style.css'), 'utf8');
const themes = ['light', 'other'] as const;
type Pair = Readonly<Record<(typeof themes)[number], string>>;

const colors = new Map<string, Pair>(
  [...css.matchAll(/--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/gu)].map(
    ([, name = '', light = '', other = '']) => [name, { light, other }],
  ),
);

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function check(foreground: string, background: string, least: number): void {
  const [front, back] = [colors.get(foreground), colors.get(background)];
  assert.ok(front !== undefined && back !== undefined, `${foreground}, ${background}`);
  for (const theme of themes) {
    const found = contrast(front[theme], back[theme]);
    assert.ok(found >= least, `${foreground} on ${background}, ${theme}: ${found.toFixed(2)}, not ${least}`);
  }
}

test('texts have enough contrast on each surface', () => {
  for (const text of ['text', 'muted', 'link', 'good', 'bad', 'warn'])
    for (const surface of ['page', 'panel', 'raised', 'warn-panel']) check(text, surface, 4.5);
  for (const text of ['series-1', 'series-2']) check(text, 'panel', 4.5);
});

test('cells, marks in cells, borders of controls and the focus have enough contrast', () => {
  for (const state of nodeStates) {
    check(`state-${state}`, 'panel', 3);
    check(`mark-${state}`, `state-${state}`, 4.5);
  }
  for (const edge of ['edge', 'focus']) for (const surface of ['page', 'panel']) check(edge, surface, 3);
});

test('every color that is used is defined, and has a value in both themes', () => {
  const others = new Set(['radius', 'mono']);
  for (const [, name = ''] of css.matchAll(/var\(--([a-z0-9-]+)\)/gu)) {
    assert.ok(colors.has(name) || others.has(name), name);
  }
  const declared = [...css.matchAll(/^ {2}--([a-z0-9-]+):/gmu)].map(([, name = '']) => name);
  assert.deepEqual(
    declared.filter((name) => !others.has(name)),
    [...colors.keys()],
  );
});
