// `npm run build`: everything that the programs load and that is not in the repository. After it, a production install
// can leave out the devDependencies (docs/how-to/operations.md).
import { join } from 'node:path';
import { buildDashboard } from './dashboard.mjs';
import { fail, generateClient, ROOT, setUp, step } from './setup.mjs';

try {
  const node = await setUp();
  await generateClient(node);
  await buildDashboard(node);
  await step('Bundling the workflows', node, [join(ROOT, 'apps/worker/src/bundle.ts')]);
} catch (error) {
  fail(error);
}
