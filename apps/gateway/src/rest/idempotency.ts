import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  claimIdempotencyKey,
  idempotencyConflict,
  invalid,
  mayHaveCommitted,
  type OpenClaim,
  readIdempotencyKey,
  releaseIdempotencyKey,
  type Reply,
  requireReadable,
  SEALED,
  secretColumn,
  settleIdempotencyKey,
  STATUS_BY_CODE,
  takeOverIdempotencyKey,
} from '@postroom/platform';
import { errorResponse, setErrorHeaders } from './http.ts';

export interface StoredAnswer {
  status: number;
  body: string;
}

export const toStored = ({ status, body }: Reply): StoredAnswer => ({ status, body: JSON.stringify(body) });

export interface Claim {
  /** The stored response, if this request was handled before. */
  replay: StoredAnswer | undefined;
  /** When the key was claimed, if this request holds it. */
  claimedAt?: string;
  /** Stores the response for 24 hours, or releases the key when the request failed on our side. */
  settle: (answer: StoredAnswer) => Promise<void>;
}

/** A request with an `Idempotency-Key`. */
interface KeyedRequest {
  method: string;
  path: string;
  body: Buffer;
  /** As those of its route. */
  answersSecret?: boolean | undefined;
  commitsResponse?: boolean | undefined;
}

/**
 * After this many seconds, a repetition takes over the key of a request whose work commits its response. The request has none, so either its work was not
 * done, or it is still running and will fail. That is sooner than clients give up, and later than most requests end.
 */
const TAKE_OVER_AFTER = 5;

/** A request without a response after this many seconds, longer than any runs, is not running: a crash or a lost connection ended it. */
const UNKNOWN_AFTER = 600;

/** How long the first request has been running, or until its key can be taken over: between 1 and 30 seconds. */
const retryAfterSeconds = (age: number, { commitsResponse }: KeyedRequest) =>
  Math.min(Math.max(commitsResponse === true ? TAKE_OVER_AFTER - age : age, 1), 30);

/** Stores bodies as plain text, except those that contain a secret. */
const sealedAnswer = secretColumn('idempotency_keys', 'body', {
  boundTo: ['project_id', 'key'],
  envelopes: `${SEALED}%`,
});

const REPEAT =
  'It is part of the response to the first request with this Idempotency-Key, which was carried out. Use another key to repeat the request.';

/**
 * Claims an `Idempotency-Key` before the work starts, so that two requests with the same key do it once (design).
 * @throws DomainError `idempotency_conflict` for a different request with the same key, or for one in flight: then
 * `Retry-After` is set, and the detail's reason is `in_flight` instead of `different_request`. It is `outcome_unknown` once that request
 * can't be running any more.
 * @throws DomainError `conflict` if the stored response was encrypted with a key that the installation no longer has.
 */
export async function claim(
  response: ServerResponse,
  projectId: string,
  key: string,
  request: KeyedRequest,
): Promise<Claim> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalid({ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' });
  }
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.path}\n`)
    .update(request.body)
    .digest('hex');
  const held = (claimedAt: string): Claim => ({
    replay: undefined,
    claimedAt,
    settle: (answer) => settle({ projectId, key, claimedAt }, answer, request),
  });
  const claimedAt = await claimIdempotencyKey(projectId, key, fingerprint);
  if (claimedAt !== undefined) return held(claimedAt);
  const first = await readIdempotencyKey(projectId, key);
  if (first !== undefined && first.fingerprint !== fingerprint) {
    throw idempotencyConflict(
      'different_request',
      'This Idempotency-Key was used for a different request: the path or the bytes of the body differ.',
    );
  }
  if (first === undefined || first.status === null || first.body === null) {
    if (first !== undefined && first.age >= TAKE_OVER_AFTER && request.commitsResponse === true) {
      const takenOver = await takeOverIdempotencyKey({ projectId, key, claimedAt: first.claimedAt });
      if (takenOver !== undefined) return held(takenOver);
    }
    if (first !== undefined && first.age >= UNKNOWN_AFTER && request.commitsResponse !== true)
      throw idempotencyConflict(
        'outcome_unknown',
        'The first request with this Idempotency-Key was interrupted, and may have been carried out. Check its result before you repeat it with another key.',
      );
    response.setHeader('Retry-After', retryAfterSeconds(first?.age ?? 0, request));
    throw idempotencyConflict('in_flight', 'The first request with this Idempotency-Key is still running.');
  }
  const { body: stored } = first;
  const body = stored.startsWith(SEALED)
    ? requireReadable(() => sealedAnswer.decrypt(stored, projectId, key), REPEAT)
    : stored;
  return { replay: { status: first.status, body }, settle: async () => {} };
}

async function settle(
  claim: OpenClaim,
  answer: StoredAnswer,
  { answersSecret, commitsResponse }: KeyedRequest,
): Promise<void> {
  // A failure that may succeed on retry is not final.
  if (answer.status >= 500 || answer.status === STATUS_BY_CODE.rate_limited) return releaseIdempotencyKey(claim);
  if (answer.status < 400 && commitsResponse === true) return;
  const body = answersSecret === true ? sealedAnswer.encrypt(answer.body, claim.projectId, claim.key) : answer.body;
  await settleIdempotencyKey(claim, { status: answer.status, body });
}

/**
 * Runs a request under its claimed idempotency key. Client errors are stored and replayed as well. The key of a request that may have been
 * carried out, although it failed, stays claimed: with another claim, it could be carried out twice.
 */
export async function runOnce(
  response: ServerResponse,
  { replay, settle }: Claim,
  requestId: string,
  run: () => Promise<StoredAnswer>,
): Promise<StoredAnswer> {
  if (replay !== undefined) {
    response.setHeader('Idempotent-Replayed', 'true');
    return replay.status < 400 ? replay : withRequestId(replay, requestId);
  }
  let isUnknown = false;
  const answer = await run().catch((error: unknown) => {
    isUnknown = mayHaveCommitted(error);
    setErrorHeaders(response, error);
    const { status, body } = errorResponse(error, requestId);
    return { status, body: JSON.stringify(body) };
  });
  if (!isUnknown) await settle(answer);
  return answer;
}

/** Replaces the request id in a replayed error with the current one, so that it leads to the current request. */
function withRequestId({ status, body }: StoredAnswer, requestId: string): StoredAnswer {
  const answer = JSON.parse(body) as { error: { request_id: string } };
  answer.error.request_id = requestId;
  return { status, body: JSON.stringify(answer) };
}
