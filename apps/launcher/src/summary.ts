import { relative } from 'node:path';
import { styleText } from 'node:util';
import type { DevFile } from './dev-file.ts';
import { DEMO_DOMAIN } from './demo-domain.ts';

/** Printed once everything runs: URLs, login, an API key, and two calls to try. */
export function summary(
  { url, graphqlUrl, temporalUiUrl, inboxUrl, smtpPort, submissionPort, projects, keys, owner }: DevFile,
  dataDir: string,
): string {
  const near = relative(process.cwd(), dataDir);
  const folder = near === '' || near.startsWith('..') ? dataDir : near;
  const rows = [
    ['Dashboard', owner === null ? url : `${url}   (${owner.email}, password ${owner.password})`],
    ['API', `${url}/v1`],
    ['GraphQL', graphqlUrl],
    ['Inbox', `${inboxUrl}   (SMTP on port ${smtpPort})`],
    ...(submissionPort === null
      ? []
      : [['SMTP', `127.0.0.1:${submissionPort}   (any username, an API key as the password)`]]),
    ...(temporalUiUrl === null ? [] : [['Temporal UI', temporalUiUrl]]),
    ['Data and logs', folder],
    ...(keys.full === undefined
      ? []
      : [['API key', `${keys.full}   (project ${projects[0]?.name}; more in ${folder}/dev.json)`]]),
  ];
  const lines = [
    bold('Postroom is running.'),
    '',
    ...rows.map(([title = '', value]) => `  ${title.padEnd(15)}${value}`),
    ...(keys.full === undefined
      ? []
      : [
          '',
          'Try it: create a contact and send it an email, which arrives in the inbox.',
          '',
          ...calls(url, keys.full),
        ]),
    '',
    'npm run demo sends a whole campaign. Press Ctrl-C to stop.',
  ];
  return `\n${lines.join('\n')}\n`;
}

function calls(url: string, key: string): string[] {
  const email = { from: `hello@${DEMO_DOMAIN}`, to: 'ada@example.com', subject: 'Hello Ada', html: '<p>It works.</p>' };
  return [
    call(url, key, '/v1/contacts', { email: 'ada@example.com', name: 'Ada' }),
    call(url, key, '/v1/emails', email),
  ];
}

/** On one line, so that it can be pasted into a shell. */
function call(url: string, key: string, path: string, body: object): string {
  return `  curl ${url}${path} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

const bold = (text: string) => styleText('bold', text);
