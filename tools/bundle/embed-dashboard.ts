// The dashboard in the bundle: its scripts, styles and page, as text in a module of its own, which is loaded at the first
// request.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

interface EmbeddedDashboard {
  /** Replaces `source-assets.ts`. */
  readonly plugin: Plugin;
  /** The files in the scripts and styles, relative to the root. */
  readonly inputs: Metafile['inputs'];
}

interface BuiltFile {
  readonly text: string;
  readonly inputs: Metafile['inputs'];
}

/** The paths of the assets are those of the sources; a script has no imports. */
export async function embedDashboard(root: string): Promise<EmbeddedDashboard> {
  const folder = join(root, 'src', 'dashboard');
  const scripts = globSync(['main.ts', '*/main.ts'], { cwd: folder }).map((path) => path.replaceAll('\\', '/'));
  const files = new Map<string, BuiltFile>();
  for (const path of [...scripts, 'style.css']) files.set(path, await buildFile(root, join(folder, path)));
  files.set('lib/uPlot.min.css', await buildFile(root, 'uplot/dist/uPlot.min.css'));
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const assets = [
    ['', { contentType: 'text/html; charset=utf-8', body: html }],
    ...[...files].map(([path, { text }]) => [path, { contentType: contentTypeOf(path), body: text }]),
  ];
  const contents = `export function loadAssets() { return new Map(${JSON.stringify(assets)}); }`;
  const plugin: Plugin = {
    name: 'embed-dashboard',
    setup: (bundle) => {
      bundle.onLoad({ filter: /[\\/]cli[\\/]dashboard[\\/]source-assets\.ts$/ }, () => ({ contents, loader: 'js' }));
    },
  };
  return { plugin, inputs: Object.assign({}, ...[...files.values()].map(({ inputs }) => inputs)) };
}

async function buildFile(root: string, entryPoint: string): Promise<BuiltFile> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entryPoint],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    write: false,
    metafile: true,
    logLevel: 'warning',
  });
  return { text: outputFiles[0]?.text ?? '', inputs: metafile.inputs };
}

function contentTypeOf(path: string): string {
  return `text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`;
}
