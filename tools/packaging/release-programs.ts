// The programs of a release: `write-image` writes the container image, crane and oras copy images and artefacts between folders and
// registries, actionlint checks the workflows.
import { join } from 'node:path';
import { findPrograms } from './program-module.ts';

export const releaseModule = {
  cache: 'release',
  folder: join(import.meta.dirname, 'release'),
  programs: {
    'write-image': './cmd/write-image',
    crane: 'github.com/google/go-containerregistry/cmd/crane',
    oras: 'oras.land/oras/cmd/oras',
    actionlint: 'github.com/rhysd/actionlint/cmd/actionlint',
  },
} as const;

/** The files of the programs, or the reason why they are missing. */
export function findReleasePrograms(): ReturnType<typeof findPrograms<keyof (typeof releaseModule)['programs']>> {
  return findPrograms<keyof (typeof releaseModule)['programs']>(releaseModule);
}
