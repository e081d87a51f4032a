// Loaded with `--import`: plants the mutant that the environment names into the sources while they are loaded. The files on
// disk are not changed.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { applyEdit, type Edit, editsOf } from './mutant.ts';
import { findMutant } from './mutants.ts';

/** The environment variable with the name of the mutant. */
const variable = 'SIMULATOR_MUTANT';

function editsByUrl(name: string): ReadonlyMap<string, readonly Edit[]> {
  const folder = resolve(import.meta.dirname, '../../../src');
  return Map.groupBy(editsOf(findMutant(name)), ({ file }) => pathToFileURL(resolve(folder, file)).href);
}

const name = process.env[variable] ?? '';
if (name !== '') {
  const edits = editsByUrl(name);
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const ofFile = edits.get(url) ?? [];
      if (ofFile.length === 0) return loaded;
      if (loaded.source === undefined || loaded.source === null) throw new TypeError(`${url} has no source`);
      const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: ofFile.reduce(applyEdit, source) };
    },
  });
}
