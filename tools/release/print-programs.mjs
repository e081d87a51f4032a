// Prints the folders of the programs of `npm run packaging-tools`, one a line, for the PATH of a release. JavaScript, so that an
// older Node.js can say which version the sources need.
import '../require-node.mjs';

const { cacheFolder } = await import('../packaging/programs.ts');
const { programFolder } = await import('../packaging/program-module.ts');
const { releaseModule } = await import('../packaging/release-programs.ts');

console.log(`${cacheFolder()}\n${programFolder(releaseModule)}`);
