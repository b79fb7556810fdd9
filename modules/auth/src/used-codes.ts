import { createHmac } from 'node:crypto';
import { pool } from '@postroom/platform';
import { symmetricDecrypt } from 'better-auth/crypto';
import { secretConfig } from './sign-in-secrets.ts';

const STEP_MS = 30_000;
/** The library also accepts the previous and next step, because clocks differ. */
const TOLERATED_STEPS = 1;

/**
 * Consumes a time-based code (RFC 6238, 5.2: a code is accepted once). Moves the account's last step in one
 * statement, so that of two requests with the same code one is rejected.
 * @returns false for a correct code of a used step; wrong codes are left to the library
 */
export async function useCode(userId: string, code: string): Promise<boolean> {
  const { rows } = await pool.query<{ id: string; secret: string }>(
    'SELECT id, secret FROM two_factors WHERE user_id = $1',
    [userId],
  );
  const [factor] = rows;
  if (factor === undefined) return true;
  const secret = await symmetricDecrypt({ key: secretConfig(), data: factor.secret });
  const now = Math.floor(Date.now() / STEP_MS);
  const step = [now + TOLERATED_STEPS, now, now - TOLERATED_STEPS].find((each) => codeOf(secret, each) === code);
  if (step === undefined) return true;
  const used = await pool.query(
    'UPDATE two_factors SET last_used_step = $2 WHERE id = $1 AND (last_used_step IS NULL OR last_used_step < $2) RETURNING id',
    [factor.id, step],
  );
  return used.rows.length > 0;
}

/** Six-digit HOTP (RFC 4226). */
function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
