import { createRequire } from 'node:module';

/** Replaced when the program is bundled. */
declare const ANALYZER_VERSION: string | undefined;

/** Of the build, else of the package, else `dev`. */
export function version(): string {
  if (typeof ANALYZER_VERSION === 'string') return ANALYZER_VERSION;
  try {
    const found: unknown = createRequire(import.meta.url)('../package.json');
    if (typeof found === 'object' && found !== null && 'version' in found && typeof found.version === 'string') {
      return found.version;
    }
  } catch {
    // A bundle has no package beside it.
  }
  return 'dev';
}
