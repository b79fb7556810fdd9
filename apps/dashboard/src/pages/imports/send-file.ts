import type { Client } from '@urql/core';
import { type Problem, problemOf } from '../../data/problem.ts';
import { graphql } from '../../generated/gql.ts';
import type { ImportContactsInput } from '../../generated/graphql.ts';

const CREATE = graphql(`
  mutation CreateImport($input: ImportContactsInput!) {
    createImport(input: $input) {
      id
    }
  }
`);

const ADD_PART = graphql(`
  mutation AddImportPart($id: ID!, $number: Int!, $data: String!) {
    addImportPart(id: $id, number: $number, data: $data) {
      id
    }
  }
`);

const START = graphql(`
  mutation StartImport($id: ID!) {
    startImport(id: $id) {
      id
    }
  }
`);

/** The maximum that the server accepts. */
export const MAX_FILE_BYTES = 200 * 1024 * 1024;

const PART_BYTES = 1024 * 1024;
/** Parts can be retried, so a dropped connection does not restart the upload. */
const TRIES = 5;
const PAUSE_MS = 1000;

type Sent = { id: string; problem?: undefined } | { id?: undefined; problem: Problem };

/** Sends a file part by part and starts its import; `onProgress` gets how much of it is sent, 0 to 1. */
export async function sendFile(
  client: Client,
  file: File,
  input: ImportContactsInput,
  onProgress: (share: number) => void,
): Promise<Sent> {
  const created = await client.mutation(CREATE, { input: { ...input, fileName: file.name } }).toPromise();
  const id = created.data?.createImport.id;
  if (id === undefined) return { problem: problemOf(created) ?? WENT_WRONG };
  for (let number = 0; number * PART_BYTES < file.size; number++) {
    const data = await inBase64(file.slice(number * PART_BYTES, (number + 1) * PART_BYTES)).catch(() => undefined);
    if (data === undefined) return { problem: { code: 'validation_error', message: UNREADABLE, fields: {} } };
    const problem = await sendPart(client, id, number, data);
    if (problem !== undefined) return { problem };
    onProgress(Math.min(1, ((number + 1) * PART_BYTES) / file.size));
  }
  const started = await client.mutation(START, { id }).toPromise();
  const problem = problemOf(started);
  return problem === undefined ? { id } : { problem };
}

async function sendPart(client: Client, id: string, number: number, data: string): Promise<Problem | undefined> {
  for (let tries = 1; ; tries++) {
    const result = await client.mutation(ADD_PART, { id, number, data }).toPromise();
    if (result.error?.networkError === undefined || tries === TRIES) return problemOf(result);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
  }
}

/** Browsers don't read a file that has been changed, such as saved in a spreadsheet, since it was chosen. */
export const UNREADABLE = 'The file can’t be read. If it was changed or moved since you chose it, choose it again.';

const WENT_WRONG: Problem = { code: 'internal_error', message: 'Something went wrong on our end.', fields: {} };

async function inBase64(part: Blob): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(reader.error ?? new Error("The file can't be read.")));
    reader.readAsDataURL(part);
  });
  return url.slice(url.indexOf(',') + 1);
}
