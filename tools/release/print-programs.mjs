// Prints the folders of the programs of `npm run packaging-tools`, one a line, for the PATH of a release.
import { cacheFolder } from '../packaging/programs.ts';
import { programFolder } from '../packaging/program-module.ts';
import { releaseModule } from '../packaging/release-programs.ts';

console.log(`${cacheFolder()}\n${programFolder(releaseModule)}`);
