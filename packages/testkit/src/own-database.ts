import { register } from 'prom-client';
import { vi } from 'vitest';

/**
 * Lets the modules that are imported from here on (by `import()`) use another database. The process has loaded them for the database of all
 * tests, and runs other files afterwards.
 * @returns closes their connections, and ends this.
 */
export function useDatabase(url: string): () => Promise<void> {
  vi.stubEnv('DATABASE_URL', url);
  reload();
  return async () => {
    const { closeDatabase } = await import('@postroom/platform');
    await closeDatabase();
    vi.unstubAllEnvs();
    reload();
  };
}

function reload(): void {
  register.clear(); // modules register their metrics when they are loaded
  vi.resetModules();
}
