// Unpacks @sparticuz/chromium into the folder for temporary files (TMPDIR). A process of its own, started by chromium.ts.
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
