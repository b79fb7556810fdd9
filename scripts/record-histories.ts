// Records a history of each path through a workflow, for the test that replays them against later code:
// `npm run record-histories -- [names]`; without names it records missing ones. It runs the workflows on a separate Temporal server,
// with activities whose results are defined below. See "Changing workflows" in docs/how-to/operations.md.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORK_KINDS } from '@postroom/platform';
import { freePorts, run, startTemporal, temporalBinary } from '@postroom/embedded';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import proto from '@temporalio/proto';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const { History } = proto.temporal.api.history.v1;
const HISTORIES = new URL('../workflows/histories/', import.meta.url);

interface Story {
  args: unknown[];
  activities: Record<string, (...args: never[]) => Promise<unknown>>;
  /** Whether it never ends by itself. */
  isTerminated?: boolean;
  /** Signals and other interventions while it runs. */
  meanwhile?: (workflow: WorkflowHandle) => Promise<void>;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** An activity that returns these in turn, and the last one from then on. */
function answers(...given: unknown[]): () => Promise<unknown> {
  let calls = 0;
  return async () => {
    const answer = given[Math.min(calls++, given.length - 1)];
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

/** A slow activity. */
const slowly = (ms: number, activity: () => Promise<unknown>) => async () => {
  await pause(ms);
  return activity();
};

const refused = (attempt: number) =>
  ApplicationFailure.create({
    message: `Attempt ${attempt} of 6: HTTP 503`,
    type: 'NotAcknowledged',
    nextRetryDelay: 1_000,
    details: [{ delayMs: 1_000 }],
  });
const counts = {
  recipients: 2,
  accepted: 1,
  planned: 1,
  claimed: 0,
  failed: 0,
  suppressed: 0,
  unknown: 0,
  canceled: 0,
};
const turn = (status: string, waitMs: number | null, more = {}) => ({ status, counts, hold: null, waitMs, ...more });

/** Named `<workflow>.<path>`. */
const STORIES: Record<string, Story> = {
  'deleteProject.owners-emailed': {
    args: ['prj_1'],
    activities: {
      listDeletionMails: answers(['usr_1', 'usr_2']),
      sendDeletionMail: answers(undefined),
      deleteProjectData: answers(undefined),
    },
  },
  'deleteProject.owners-unknown': {
    args: ['prj_1'],
    activities: {
      listDeletionMails: answers(ApplicationFailure.nonRetryable('The list is unavailable.')),
      deleteProjectData: answers(undefined),
    },
  },
  'deliverWebhook.acknowledged': { args: ['dlv_1'], activities: { attemptDelivery: answers('acknowledged') } },
  'deliverWebhook.failed-after-six-attempts': {
    args: ['dlv_1'],
    activities: { attemptDelivery: answers(...[1, 2, 3, 4, 5].map(refused), 'failed') },
  },
  'deliverWebhook.retried-after-a-batch': {
    args: ['dlv_1', { message: 'Attempt 1 of 6: HTTP 503', delayMs: 1_000 }],
    activities: { attemptDelivery: answers('acknowledged') },
  },
  'deliverWebhook.retried-now': {
    args: ['dlv_1', { message: 'Attempt 1 of 6: HTTP 503', delayMs: 3_600_000 }],
    activities: { attemptDelivery: answers('acknowledged') },
    meanwhile: (workflow) => workflow.signal('retryNow'),
  },
  'deliverWebhook.retried-now-during-an-attempt': {
    args: ['dlv_1'],
    activities: { attemptDelivery: slowly(2_000, answers(refused(1), 'acknowledged')) },
    meanwhile: (workflow) => workflow.signal('retryNow'),
  },
  'deliverWebhook.given-up': {
    args: ['dlv_1', { message: 'Attempt 1 of 6: HTTP 503', delayMs: 3_600_000 }],
    activities: { attemptDelivery: answers('acknowledged'), giveUpDelivery: answers(null) },
    meanwhile: (workflow) => workflow.signal('giveUp'),
  },
  'runJourney.done': {
    args: ['jrn_1'],
    activities: {
      advanceJourney: answers(
        { more: true, transitions: 500, triggers: 20 },
        { more: false, transitions: 3, triggers: 0 },
      ),
    },
  },
  'callJourneyHost.done': { args: ['prj_1', 'example.com'], activities: { callJourneyHost: answers(true, false) } },
  'deliverBatch.done': {
    args: [['dlv_1', 'dlv_2']],
    activities: { attemptBatch: answers({ acknowledged: 1, retried: 1, returned: 0 }) },
  },
  'sendCampaign.completed': {
    args: ['cmp_1'],
    activities: {
      freezeRecipients: answers(null),
      sendPages: answers(turn('sending', 0), turn('sending', 1_000), turn('sending', null)),
      completeCampaign: answers(false, true),
    },
  },
  'sendCampaign.sent-while-counting': {
    args: ['cmp_1'],
    activities: {
      freezeRecipients: answers({ recipients: 10, suppressed: 0, isCounting: true }),
      freezeRemaining: answers({ recipients: 40, suppressed: 0 }),
      sendPages: answers(turn('sending', null, { isCounting: true }), turn('sending', null)),
      completeCampaign: answers(true),
    },
  },
  'sendCampaign.sent-in-shards': {
    args: ['cmp_1'],
    activities: {
      freezeRecipients: answers({ recipients: 10_000, suppressed: 0, shards: 2 }),
      sendPages: slowly(1_000, answers(turn('sending', 0, { shards: 2 }), turn('sending', null))),
      sendShard: slowly(700, answers(true, false)),
      completeCampaign: answers(false, true),
    },
  },
  'sendCampaign.shards-paused-and-canceled': {
    args: ['cmp_1'],
    activities: {
      freezeRecipients: answers({ recipients: 10_000, suppressed: 0, shards: 2 }),
      sendPages: answers(turn('paused', null), turn('canceled', null)),
      sendShard: slowly(2_000, answers(false)),
      cancelRecipients: answers(counts),
    },
    // The shards are still ending.
    meanwhile: (workflow) => workflow.signal('cancel'),
  },
  'sendCampaign.held': {
    args: ['cmp_1'],
    activities: {
      freezeRecipients: answers(null),
      sendPages: answers(
        turn('sending', null, { hold: { answer: '421 Try later', waitMs: null } }),
        turn('completed', null),
      ),
    },
  },
  'sendCampaign.paused-and-canceled': {
    args: ['cmp_1'],
    activities: {
      freezeRecipients: answers(null),
      sendPages: answers(turn('paused', null), turn('canceled', null)),
      cancelRecipients: answers(counts),
    },
    meanwhile: (workflow) => workflow.signal('cancel'),
  },
  'sendCampaign.goes-on': {
    args: ['cmp_1', 2],
    activities: {
      freezeRecipients: answers(null),
      sendPages: answers(turn('sending', 60_000), turn('sending', null), turn('superseded', null)),
      completeCampaign: answers(false),
    },
    meanwhile: (workflow) => workflow.signal('sendAgain'),
  },
  'scheduleCampaign.started': {
    args: ['cmp_1', new Date(Date.now() + 5_000).toISOString()],
    activities: { startScheduledCampaign: answers('started') },
  },
  'endAbTest.ended': {
    args: ['abt_1'],
    activities: { endDueAbTest: answers(3_000, null) },
  },
  'sendEmails.sent': {
    args: ['eml_1'],
    activities: {
      sendBatch: answers(
        { open: 2, waitMs: 500, held: '421 Try later', counts: { planned: 2 } },
        { open: 1, waitMs: 500, held: null, counts: { accepted: 1 } },
        { open: 0, waitMs: 0, held: null, counts: { accepted: 1 } },
      ),
    },
  },
  'sendBurst.over': {
    args: ['prj_1', 'burst_1'],
    activities: {
      sendFromQueue: answers(
        { over: false, waitMs: 0, held: null, counts: { accepted: 2 } },
        { over: false, waitMs: 500, held: '421 Try later', counts: { planned: 2 } },
        { over: true, waitMs: 0, held: null, counts: { accepted: 1 } },
      ),
    },
  },
  'verifyDomain.gone': {
    args: ['dom_1'],
    activities: {
      checkDomain: answers({ outcome: 'checked', details: 'pending', waitMs: 3_600_000 }, { outcome: 'gone' }),
    },
    meanwhile: (workflow) => workflow.signal('checkNow'),
  },
  'importContacts.completed': {
    args: ['imp_1'],
    activities: {
      beginImport: answers({ status: 'running', error: null }),
      writeImport: answers({
        status: 'completed',
        rows: 3,
        created: 1,
        updated: 1,
        unchanged: 0,
        refused: 1,
        error: null,
      }),
    },
  },
  'runBacktest.completed': {
    args: ['bkt_1'],
    activities: {
      continueBacktest: answers(
        { status: 'running', processed: 2, total: 3 },
        { status: 'completed', processed: 3, total: 3 },
      ),
    },
  },
  'runBulkOperation.completed': {
    args: ['blk_1'],
    activities: { continueBulkOperation: answers({ status: 'completed', processed: 3, total: 3 }) },
  },
  'recordSegmentSizes.done': { args: [], activities: { recordSegmentSizes: answers(2) } },
  'deleteOld.done': {
    args: [],
    activities: { deleteOldRows: answers({ deliveries: 1, events: 1, idempotencyKeys: 1, givenUp: 0 }) },
  },
  'mailNotification.sent': {
    args: ['ntf_1'],
    activities: { listNotificationMails: answers(['usr_1', 'usr_2']), sendNotificationMail: answers(null) },
  },
  'witnessSending.announced': {
    args: [
      [
        {
          scope: 'queue prj_1',
          position: '2026-01-01T00:00:00.000Z',
          until: '2026-01-01T00:00:00.000Z',
          epoch: 1,
          number: 1,
        },
      ],
    ],
    activities: { none: answers(null) },
    isTerminated: true,
    meanwhile: async (workflow) => {
      for (const number of [2, 3])
        await workflow.signal('reserved', [
          { scope: 'campaign cmp_1', position: `eml_${number}`, until: '2026-01-01T00:00:00.000Z', epoch: 1, number },
        ]);
      await pause(1_000);
    },
  },
};

const asked = process.argv.slice(2);
const isMissing = (name: string) => !existsSync(new URL(`${name}.json`, HISTORIES));
const names = Object.keys(STORIES).filter((name) => (asked.length > 0 ? asked.includes(name) : isMissing(name)));

const folder = mkdtempSync(join(tmpdir(), 'postroom-histories-'));
const [port = 0, uiPort = 0] = await freePorts(2);
const binary = await temporalBinary(undefined, console.log);
const temporal = await startTemporal(run, { binary, port, uiPort, logFile: join(folder, 'temporal.log') });
Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await Connection.connect({ address: temporal.address });
const client = new Client({ connection, identity: 'recorder' });
const native = await NativeConnection.connect({ address: temporal.address });
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(import.meta.resolve('@postroom/workflows')),
  logger: new DefaultLogger('ERROR'),
});
mkdirSync(HISTORIES, { recursive: true });
for (const name of names) await record(name, STORIES[name] as Story);
await connection.close();
await native.close();
await temporal.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(0);

async function record(name: string, { args, activities, meanwhile, isTerminated = false }: Story): Promise<void> {
  const taskQueue = name;
  const common = { connection: native, identity: 'recorder', activities };
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue, workflowBundle }),
    ...WORK_KINDS.map((kind) => Worker.create({ ...common, taskQueue: `${taskQueue}-${kind}` })),
  ]);
  const running = workers.map((worker) => worker.run());
  try {
    const [type = ''] = name.split('.');
    const workflow = await client.workflow.start(type, { workflowId: name, taskQueue, args });
    if (meanwhile !== undefined) {
      await pause(1_000);
      await meanwhile(workflow);
    }
    if (isTerminated) await workflow.terminate();
    else await workflow.result();
    const recorded = History.toObject(History.fromObject(await workflow.fetchHistory()), {
      longs: String,
      bytes: String,
    });
    // The paths on this machine are private, and a replay does not read them.
    const history = JSON.stringify(recorded, (key, value) => (key === 'stackTrace' ? '' : value), 1);
    writeFileSync(new URL(`${name}.json`, HISTORIES), `${history}\n`);
    console.log(`${name}: recorded`);
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
  }
}
