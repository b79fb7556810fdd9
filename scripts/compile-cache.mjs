// Fills NODE_COMPILE_CACHE with everything that the programs load, so that they start in half the time. The cache only serves the same
// version of Node, the same paths and the same user: deploy/Dockerfile fills it in the image.
import { flushCompileCache, getCompileCacheDir } from 'node:module';

// Nothing connects: modules are loaded, no program starts.
process.env.DATABASE_URL = 'postgresql://nobody-connects.invalid/postroom';

const { loadParts, REQUIRED } = await import('@postroom/registry');
await import('../apps/gateway/src/gateway.ts');
await import('../apps/worker/src/worker.ts');
await import('../apps/submission/src/submission.ts');
await import('../apps/bounces/src/server.ts');
await import('mjml');
// Workflows only run in Temporal's sandbox, from their bundle.
for (const part of Object.keys(REQUIRED).filter((name) => name !== 'workflows')) await loadParts(part);

flushCompileCache();
console.log(`Compiled code is in ${getCompileCacheDir() ?? 'no cache: set NODE_COMPILE_CACHE'}.`);
process.exit(0);
