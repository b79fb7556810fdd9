#!/usr/bin/env node
// The Postroom command line; the npm scripts call it. It runs on Node 20.19 or later and imports only Node until a
// command needs more, so `postroom --help` responds at once, before dependencies are installed.
/** The summary of each command. scripts/commands.mjs has the programs. */
const COMMANDS = {
  start: 'start everything on this machine: PostgreSQL, Temporal, gateway, worker, inbox, dashboard',
  dev: 'start everything, restart programs when their sources change, hot-reload the dashboard',
  stop: 'stop the Postroom running on a data folder',
  demo: 'send a campaign and its webhooks, and verify every delivery',
  migrate: 'apply pending migrations to DATABASE_URL',
  bootstrap: 'create the first owner, a project and an API key, as far as they do not exist',
  gateway: 'run the gateway: /v1, /graphql, dashboard',
  worker: 'run the worker: workflows, activities, dispatcher',
  submission: 'run the SMTP submission server',
  bounces: 'run the SMTP server that receives bounces and complaints',
  'promote-worker': 'make BUILD_ID the current build of WORKER_DEPLOYMENT',
  journeys: 'keep journeys as files: pull, push, diff; run one against the past: backtest',
  mcp: 'run the MCP server, over stdio or with --http',
  doctor: 'check settings, database, Temporal, DNS, mail transport and ports, and say what to fix',
  capacity: 'predict machines, disk, price and the first limit from a workload',
  'after-restore': 'list what may have been sent since the point a database was restored to; --release sends again',
  'delete-project': 'delete a project with everything in it, for good',
  'move-project': 'move a project to another cell while it sends; can be interrupted and continued',
  operator: 'block a sending domain in every project, revoke any API key, or partition messages',
  'rotate-encryption-key': 're-encrypt every stored secret with the current key',
  chaos: 'kill processes during a campaign or a journey and count lost and duplicate messages',
};

/** Commands that print their own help. The others take `--help` for a start: `rotate-encryption-key --help` would rotate. */
const WITH_HELP = [
  'start',
  'demo',
  'migrate',
  'bootstrap',
  'journeys',
  'chaos',
  'doctor',
  'capacity',
  'after-restore',
  'delete-project',
  'move-project',
  'operator',
];

const [name, ...args] = process.argv.slice(2);
const asksForHelp = args.includes('--help') || args.includes('-h');

if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
  console.log(usage());
  process.exitCode = name === undefined ? 1 : 0;
} else if (name === '--version' || name === '-v') {
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } });
  console.log(manifest.version);
} else if (!Object.hasOwn(COMMANDS, name)) {
  console.error(`postroom: unknown command "${name}"\n\n${usage()}`);
  process.exitCode = 1;
} else if (asksForHelp && !WITH_HELP.includes(name)) {
  console.log(`postroom ${name}: ${COMMANDS[name]}\n\ndocs/reference/settings.md lists its settings.`);
} else {
  const { run } = await import('../scripts/commands.mjs');
  await run(name, args);
}

function usage() {
  const width = Math.max(...Object.keys(COMMANDS).map((command) => command.length));
  const lines = Object.entries(COMMANDS).map(([command, summary]) => `  ${command.padEnd(width)}  ${summary}`);
  return `Usage: postroom <command> [options]

${lines.join('\n')}

"postroom <command> --help" shows the options of ${WITH_HELP.slice(0, -1).join(', ')} and ${WITH_HELP.at(-1)}.`;
}
