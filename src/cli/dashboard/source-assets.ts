// The assets of the page from its sources, without a build: types are stripped, and packages are served as they are
// published. The bundle has another module in place of this one: tools/bundle/embed-dashboard.ts.
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownValue } from '../../machinery/api/json-map.ts';

/** Answer for a path below `/dashboard/assets/`. */
export interface DashboardAsset {
  readonly contentType: string;
  readonly body: string;
}

const folder = join(import.meta.dirname, '..', '..', 'dashboard');

/** The packages that the page imports, and the paths at which they are served. */
const packages: Readonly<Record<string, string>> = {
  preact: 'lib/preact.mjs',
  'preact/hooks': 'lib/hooks.mjs',
  uplot: 'lib/uPlot.mjs',
};

const javascript = 'text/javascript; charset=utf-8';
const stylesheet = 'text/css; charset=utf-8';

export function loadAssets(): ReadonlyMap<string, DashboardAsset> {
  const assets = new Map<string, DashboardAsset>();
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  assets.set('', { contentType: 'text/html; charset=utf-8', body: read('index.html') });
  assets.set('style.css', { contentType: stylesheet, body: read('style.css') });
  for (const file of globSync('**/*.ts', { cwd: folder })) {
    const path = file.replaceAll('\\', '/');
    assets.set(path, { contentType: javascript, body: withServedImports(path, stripTypes(read(path))) });
  }
  for (const [name, path] of Object.entries(packages)) {
    const text = readFileSync(fileURLToPath(import.meta.resolve(moduleOf(name))), 'utf8');
    const body = withServedImports(path, text.replace(/^\/\/# sourceMappingURL=.*$/mu, ''));
    assets.set(path, { contentType: javascript, body });
  }
  const styles = readFileSync(fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css')), 'utf8');
  assets.set('lib/uPlot.min.css', { contentType: stylesheet, body: styles });
  return assets;
}

/** uPlot has no exports in its package.json, so its main file is a CommonJS module. */
function moduleOf(name: string): string {
  return name === 'uplot' ? 'uplot/dist/uPlot.esm.js' : name;
}

/** Imports of packages become imports of the files in `lib`, relative to the importing file. */
function withServedImports(path: string, text: string): string {
  const up = path.includes('/') ? '../'.repeat(path.split('/').length - 1) : './';
  return text.replaceAll(/(\bfrom ?|\bimport ?)(['"])([a-z][a-z/]*)\2/gu, (whole, keyword, quote, name) => {
    const target = ownValue(packages, String(name));
    return target === undefined ? whole : `${String(keyword)}${String(quote)}${up}${target}${String(quote)}`;
  });
}

/** Node.js warns at the first call that the function is experimental; that warning, and no other, is left out. */
function stripTypes(text: string): string {
  const emitWarning = Reflect.get(process, 'emitWarning');
  Reflect.set(process, 'emitWarning', (...args: Parameters<typeof process.emitWarning>) => {
    if (!String(args[0]).includes('stripTypeScriptTypes')) Reflect.apply(emitWarning, process, args);
  });
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}
