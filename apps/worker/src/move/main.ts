// `postroom move-project`: moves a project to another cell. See docs/how-to/cells.md.
import { parseArgs } from 'node:util';
import { runCommand } from '@postroom/errors';
import { closeDatabase, config, isId, logger } from '@postroom/platform';
import { disagreement, postTo } from '@postroom/projects/cells';
import { CELL_NAME } from '@postroom/settings';
import { connect, connectHere } from './connect.ts';
import { drainMsOf } from './drain.ts';
import { endWorkflows } from './end-workflows.ts';
import { abortMove, moveProject, MoveRefused } from './move.ts';

const USAGE = `Usage: postroom move-project PROJECT --to CELL [--abort] [--drain-seconds 120]

Moves a project to the cell whose database is TARGET_DATABASE_URL. Run it with the settings of the cell that has the project
now. It can be interrupted at any moment, and continues when it is run again.

  --to CELL             the name of the cell that gets the project
  --abort               return the project to this cell, unless the other one has it already
  --drain-seconds N     how long to wait for mail and webhooks in flight`;

await runCommand('postroom move-project', async () => {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      to: { type: 'string', default: '' },
      abort: { type: 'boolean', default: false },
      'drain-seconds': { type: 'string', default: '120' },
      help: { type: 'boolean', short: 'h' },
      data: { type: 'string' },
    },
  });
  if (options.help === true) console.log(USAGE);
  else if (positionals.length === 1) await move(positionals[0] ?? '', options);
  else {
    console.error(USAGE);
    process.exitCode = 1;
  }
});
await closeDatabase();

async function move(
  projectId: string,
  { to, abort, 'drain-seconds': drain }: { to: string; abort: boolean; 'drain-seconds': string },
): Promise<void> {
  if (!isId('prj', projectId)) throw new MoveRefused(`"${projectId}" is not the id of a project (prj_…).`);
  if (!CELL_NAME.test(to)) throw new MoveRefused('Name the cell that gets the project: --to CELL.');
  const drainMs = drainMsOf(drain);
  const { CELL: from, TARGET_DATABASE_URL: targetUrl } = config;
  if (from === undefined || targetUrl === undefined)
    throw new MoveRefused(
      'Set CELL to the name of this cell, and TARGET_DATABASE_URL to the database of the other one.',
    );
  if (![from, to].every((cell) => config.CELL_GATEWAYS?.has(cell)))
    throw new MoveRefused(`Set CELL_GATEWAYS as in the other programs of this cell: it must name ${from} and ${to}.`);
  if (from === to) throw new MoveRefused(`The project is in ${from}: name another cell.`);
  const source = await connectHere();
  const target = await connect(targetUrl, to).catch(async (error: unknown) => {
    await source.end();
    throw error;
  });
  const move = { source, target, projectId, from, to, post: postTo, report: (step: string) => console.log(step) };
  try {
    if (abort) {
      await abortMove(move);
      console.log(`The project stays in ${from}.`);
      return;
    }
    await moveProject({
      ...move,
      findDisagreement: () => disagreement(from, to, projectId),
      drainMs,
      endWorkflows: () => endWorkflows(projectId, 'The project was moved to another cell.'),
    });
    console.log(`${projectId} is in ${to}.`);
  } catch (error) {
    if (!(error instanceof MoveRefused)) logger.error({ err: error }, 'the move was interrupted');
    throw error;
  } finally {
    await Promise.allSettled([source.end(), target.end()]);
  }
}
