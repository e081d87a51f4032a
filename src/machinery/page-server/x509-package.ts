// The X.509 package behind an ES module, which can be imported on first use: of a bundled CommonJS package `import()` has
// no named exports. Its dependency container requires the `Reflect` metadata API to be loaded first.
import 'reflect-metadata';

export * as x509 from '@peculiar/x509';
