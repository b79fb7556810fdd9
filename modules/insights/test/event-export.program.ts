// Exports the events of a project, and kills itself at a step: before or after a file is stored (see event-export.system.test.ts).
import { storeAt } from '@postroom/partitions';
import { closeDatabase } from '@postroom/platform';
import { exportProject } from '../src/event-export.ts';

const [projectId = '', url = '', killAt = ''] = process.argv.slice(2);
let steps = 0;
const step = () => {
  if (++steps === Number(killAt)) process.kill(process.pid, 'SIGKILL');
};
const store = storeAt(url);
await exportProject(
  projectId,
  async (name, content) => {
    step();
    await store(name, content);
    step();
  },
  20,
);
await closeDatabase();
