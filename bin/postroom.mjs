#!/usr/bin/env node
// The Postroom command line; the npm scripts call it. It runs on Node 20.19 or later and imports only Node until a
// command needs more, so `postroom --help` responds at once, before dependencies are installed.
/** Each command: its summary and the module that runs it. */
const COMMANDS = {
  start: ['start everything on this machine: PostgreSQL, Temporal, gateway, worker, inbox, dashboard', 'start'],
  dev: ['start everything, restart programs when their sources change, hot-reload the dashboard', 'dev'],
  stop: ['stop the Postroom running on a data folder', 'stop'],
  demo: ['send a campaign and its webhooks, and verify every delivery', 'demo'],
  migrate: ['apply pending migrations to DATABASE_URL', 'migrate'],
  bootstrap: ['create the first owner, a project and an API key, as far as they do not exist', 'bootstrap'],
  gateway: ['run the gateway: /v1, /graphql, dashboard', 'gateway'],
  worker: ['run the worker: workflows, activities, dispatcher', 'worker'],
  submission: ['run the SMTP submission server', 'submission'],
  bounces: ['run the SMTP server that receives bounces and complaints', 'bounces'],
  'promote-worker': ['make BUILD_ID the current build of WORKER_DEPLOYMENT', 'promote-worker'],
  journeys: ['keep journeys as files: pull, push, diff', 'journeys'],
  mcp: ['run the MCP server, over stdio or with --http', 'mcp'],
  doctor: ['check settings, database, Temporal, DNS, mail transport and ports, and say what to fix', 'doctor'],
  capacity: ['predict machines, disk, price and the first limit from a workload', 'capacity'],
  'after-restore': [
    'list what may have been sent since the point a database was restored to; --release sends again',
    'after-restore',
  ],
  'move-project': ['move a project to another cell while it sends; can be interrupted and continued', 'move-project'],
  'rotate-encryption-key': ['re-encrypt every stored secret with the current key', 'rotate-encryption-key'],
  chaos: ['kill processes during a campaign or a journey and count lost and duplicate messages', 'chaos'],
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
  'move-project',
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
  console.log(`postroom ${name}: ${COMMANDS[name][0]}\n\ndocs/reference/settings.md lists its settings.`);
} else {
  const [, command] = COMMANDS[name];
  const { run } = await import('../scripts/commands.mjs');
  await run(command, args);
}

function usage() {
  const width = Math.max(...Object.keys(COMMANDS).map((command) => command.length));
  const lines = Object.entries(COMMANDS).map(([command, [summary]]) => `  ${command.padEnd(width)}  ${summary}`);
  return `Usage: postroom <command> [options]

${lines.join('\n')}

"postroom <command> --help" shows the options of ${WITH_HELP.slice(0, -1).join(', ')} and ${WITH_HELP.at(-1)}.`;
}
