import { expect, test } from 'vitest';
import { csvOf } from '../src/uncertain-csv.ts';

test('the list of messages after a restore is no formula in a spreadsheet', () => {
  const message = { id: 'msg_1', projectId: 'prj_1', campaignId: null };
  const emails = ['ada@example.com', '=1+1@example.com', '+a@example.com', '-a@example.com', '＝a@example.com'];
  expect(csvOf(emails.map((email) => ({ ...message, email })))).toBe(
    `id,project,campaign,address\r
msg_1,prj_1,,ada@example.com\r
msg_1,prj_1,,'=1+1@example.com\r
msg_1,prj_1,,'+a@example.com\r
msg_1,prj_1,,'-a@example.com\r
msg_1,prj_1,,'＝a@example.com\r
`,
  );
});
